"""What a caller may have to handle, one exception each. Sentences are for the person concerned."""

from datetime import datetime, timedelta

from annotate.traces.base import Problem


class NotYours(LookupError):
    """Someone else's, locked or missing: one answer for all three (404), so that none can be told apart."""


class AlreadySubmitted(ValueError):
    """Another window was first; nothing of this one was taken over."""

    def __init__(self, at: datetime | None):
        super().__init__(at)
        self.at = at


class NewerDraft(ValueError):
    """A draft with a higher number is stored already, written in another window."""


class ReasonMissing(ValueError):
    """A correction that is no undo any more needs a reason."""


class PlaceGone(ValueError):
    """The lease of a pool's item has ended and its place was given on; what was typed is kept."""

    def __init__(self, project_slug: str):
        super().__init__(project_slug)
        self.project_slug = project_slug


class Refused(ValueError):
    """A command or page cannot do what was asked; the problem says what is wrong and what to do."""

    def __init__(self, problem: Problem):
        super().__init__(problem.sentence())
        self.problem = problem


class TooBusy(RuntimeError):
    """So many passwords are being checked at this moment that one more would keep others from their work."""


class JobFailed(Exception):
    """A job cannot be done. `sentence` is a message id for the lead; `again` says whether another try may help."""

    def __init__(self, sentence: str, *, again: bool = False):
        super().__init__(sentence)
        self.sentence = sentence
        self.again = again


class Later(Exception):
    """A job cannot be done yet, which is no fault of its own: it goes back and waits so long. `sentence` is a message
    id that says what for."""

    def __init__(self, after: timedelta, sentence: str = ""):
        super().__init__(sentence)
        self.after = after
        self.sentence = sentence


class LeaseLost(Exception):
    """Another worker has taken the job over, or it was given up: nothing more may be written for it."""


class Stopping(Exception):
    """This worker is to end, so the job under way goes back as it was."""


class SettledMeanwhile(ValueError):
    """Somebody settled the item since the page was opened; nothing of this one was taken over."""


class AnswersChanged(ValueError):
    """Somebody answered or corrected since the page was opened, so that its letters may mean other answers now."""
