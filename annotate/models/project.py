"""Who works on what: people, projects, their protocols and memberships."""

from datetime import timedelta

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class PersonManager(BaseUserManager):
    def create_person(self, username, password, **fields):
        """A new account; the password is stored hashed, None makes it unusable."""
        person = self.model(username=self.model.normalize_username(username), **fields)
        person.set_password(password)
        person.save(using=self._db)
        return person


class Person(AbstractBaseUser):
    """Somebody with an account. What they may do is said by their memberships alone."""

    username = models.CharField(_("name"), max_length=150, unique=True)
    interface_language = models.CharField(max_length=10, blank=True)
    time_zone = models.CharField(max_length=64, blank=True, default="")  # empty: the browser's
    may_create_projects = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = PersonManager()
    USERNAME_FIELD = "username"
    REQUIRED_FIELDS: list[str] = []

    def __str__(self):
        return self.username


class Phase(models.TextChoices):
    PRACTICE = "practice", _("practice")
    PILOT = "pilot", _("pilot")
    MAIN = "main", _("main")


class Assigning(models.TextChoices):
    PANEL = "panel", _("panel")
    POOL = "pool", _("pool")
    SUBSETS = "subsets", _("subsets")
    PAIRS = "pairs", _("pairs")


class Project(models.Model):
    """One question asked of one body of material. Commands call it by its slug. `open_phase` is the furthest phase that
    its annotators may begin; a closed one takes no label any more. In a panel everybody has a plan of all items; from a
    pool who asks is given the next one, for a lease, so that each gets `overlap` labels, and nobody gets more than
    `person_cap`; in subsets everybody has a plan of the items that were drawn for them (`SubsetItem`); in pairs five
    have the version of each point that was drawn for them (`PairsDraw`), and nobody else has anything. Of new items
    `suggestions_off` in a hundred are shown without what rules suggest."""

    slug = models.SlugField(max_length=60, unique=True)
    title_en = models.CharField(max_length=200)
    title_zh = models.CharField(max_length=200)
    kind = models.CharField(max_length=40)
    languages = models.JSONField(default=list)
    seed = models.BigIntegerField()
    settings = models.JSONField(default=dict)
    open_lead = models.BooleanField(default=False)
    open_phase = models.CharField(max_length=10, choices=Phase, default=Phase.MAIN)
    assigning = models.CharField(max_length=10, choices=Assigning, default=Assigning.PANEL)
    overlap = models.PositiveIntegerField(default=3)
    person_cap = models.PositiveIntegerField(null=True, blank=True)
    lease = models.DurationField(default=timedelta(minutes=30))
    suggestions_off = models.PositiveSmallIntegerField(default=0)
    is_synthetic = models.BooleanField(default=False)
    closed_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(open_phase__in=Phase.values), name="project_open_phase_known"),
            models.CheckConstraint(
                condition=Q(assigning__in=["panel", "pool", "subsets", "pairs"]), name="project_assigning_known"
            ),
            models.CheckConstraint(condition=Q(suggestions_off__lte=100), name="project_suggestions_off_a_share"),
            models.CheckConstraint(
                condition=Q(overlap__gte=1) & (Q(person_cap=None) | Q(person_cap__gte=1)), name="project_pool_gives"
            ),
        ]

    def __str__(self):
        return self.slug


class Protocol(models.Model):
    """Guideline and label schema under one number; never edited, a change is the next number."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="protocols")
    number = models.PositiveIntegerField()
    guideline_en = models.TextField(blank=True)
    guideline_zh = models.TextField(blank=True)
    label_schema = models.JSONField(default=dict)
    change_note = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="protocol_number_unique"),
            models.CheckConstraint(condition=Q(number__gte=1), name="protocol_number_from_one"),
        ]

    def __str__(self):
        return f"{self.project_id} protocol {self.number}"


class Role(models.TextChoices):
    ANNOTATOR = "annotator", _("annotator")
    REVIEWER = "reviewer", _("reviewer")
    LEAD = "lead", _("lead")


class Membership(models.Model):
    """One person's part in one project, under a code that pages, figures and exports may show."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="memberships")
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role)
    code = models.CharField(max_length=20)
    languages = models.JSONField(default=list)
    paused_at = models.DateTimeField(null=True, blank=True)
    left_at = models.DateTimeField(null=True, blank=True)
    settled_seen_at = models.DateTimeField(null=True, blank=True)
    qualifies_from = models.DateTimeField(null=True, blank=True)  # known answers before a pause ended do not count
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "person"], name="membership_one_per_project"),
            models.UniqueConstraint(fields=["project", "code"], name="membership_code_unique"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="membership_role_known"),
        ]

    def __str__(self):
        return f"{self.code} in {self.project_id}"


class Invite(models.Model):
    """A single-use link, stored as a hash: the first lead's set-up, a place in a project, or a new password."""

    class Purpose(models.TextChoices):
        SET_UP = "set_up", _("set-up of the first lead")
        PROJECT = "project", _("a place in a project")
        PASSWORD = "password", _("a new password")

    token_hash = models.CharField(max_length=64, unique=True)
    purpose = models.CharField(max_length=10, choices=Purpose)
    project = models.ForeignKey(Project, null=True, blank=True, on_delete=models.CASCADE)
    role = models.CharField(max_length=10, choices=Role, blank=True)
    languages = models.JSONField(default=list)
    note = models.CharField(max_length=200, blank=True)
    person = models.ForeignKey(Person, null=True, blank=True, on_delete=models.CASCADE, related_name="password_links")
    created_by = models.ForeignKey(Person, null=True, blank=True, on_delete=models.PROTECT, related_name="invites_made")
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    spent_at = models.DateTimeField(null=True, blank=True)
    spent_by = models.ForeignKey(Person, null=True, blank=True, on_delete=models.PROTECT, related_name="invites_spent")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(purpose="set_up", project=None, role="", person=None)
                | Q(purpose="project", project__isnull=False, role__in=Role.values, person=None)
                | Q(purpose="password", project=None, role="", person__isnull=False),
                name="invite_names_what_it_opens",
            )
        ]

    def __str__(self):
        return f"{self.purpose} {self.pk}"
