"""The tables, one file a noun group."""

from annotate.models.account import Session, Token
from annotate.models.item import Item
from annotate.models.labor import Annotation, Assignment, Post, Round
from annotate.models.project import Invite, Membership, Person, Phase, Project, Protocol, Role
from annotate.models.release import Release, ReleaseItem, Settlement
from annotate.models.trace import File, ImportBatch, Message, Trace
from annotate.models.work import Event, Work, WorkGroup

__all__ = [
    "Annotation",
    "Assignment",
    "Event",
    "File",
    "ImportBatch",
    "Invite",
    "Item",
    "Membership",
    "Message",
    "Person",
    "Phase",
    "Post",
    "Project",
    "Protocol",
    "Release",
    "ReleaseItem",
    "Role",
    "Round",
    "Session",
    "Settlement",
    "Token",
    "Trace",
    "Work",
    "WorkGroup",
]
