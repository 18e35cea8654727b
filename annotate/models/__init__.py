"""The tables, one file a noun group."""

from annotate.models.account import Session, Token
from annotate.models.item import Item
from annotate.models.labor import Annotation, Assignment, Post, Round
from annotate.models.pairs import PairsDraw
from annotate.models.pool import PoolItem
from annotate.models.project import Assigning, Invite, Membership, Person, Phase, Project, Protocol, Role
from annotate.models.release import Release, ReleaseItem, Settlement
from annotate.models.review import Disagreement, SentBack
from annotate.models.subset import SubsetItem
from annotate.models.trace import File, ImportBatch, Message, Trace
from annotate.models.work import Event, Work, WorkGroup

__all__ = [
    "Annotation",
    "Assigning",
    "Assignment",
    "Disagreement",
    "Event",
    "File",
    "ImportBatch",
    "Invite",
    "Item",
    "Membership",
    "Message",
    "PairsDraw",
    "Person",
    "Phase",
    "PoolItem",
    "Post",
    "Project",
    "Protocol",
    "Release",
    "ReleaseItem",
    "Role",
    "Round",
    "SentBack",
    "Session",
    "Settlement",
    "SubsetItem",
    "Token",
    "Trace",
    "Work",
    "WorkGroup",
]
