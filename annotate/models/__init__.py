"""The tables, one file a noun group."""

from annotate.models.item import Item, Phase
from annotate.models.labor import Annotation, Assignment, Post, Round
from annotate.models.project import Invite, Membership, Person, Project, Protocol, Role
from annotate.models.release import Settlement
from annotate.models.trace import File, ImportBatch, Message, Trace
from annotate.models.work import Event

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
    "Role",
    "Round",
    "Settlement",
    "Trace",
]
