"""Commands speak one way: one JSON object alone on standard output, words on standard error, exit 1 when refused."""

import json
import re
import shlex
import shutil
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.urls import reverse
from django.utils import timezone, translation

from annotate.accounts import person_of_link
from annotate.demo import FOLDER as DEMO
from annotate.demo import demo_passwords
from annotate.inviting import find_invite
from annotate.models import Annotation, Assignment, Event, Invite, Item, Membership, Person, Project, Trace
from annotate.setting_up import find_set_up
from tests.factories import make_person, make_project

pytestmark = pytest.mark.django_db
README = Path(__file__).resolve().parents[2] / "README.md"


class Said:
    """What a command said on which stream, and its exit code."""

    def __init__(self, *words):
        out, err = StringIO(), StringIO()
        self.code = 0
        try:
            call_command(*words, stdout=out, stderr=err, no_color=True)
        except SystemExit as end:
            self.code = end.code
        self.out, self.err = out.getvalue(), err.getvalue()

    @property
    def object(self):
        """The one JSON object that stands alone on one line."""
        assert self.out.endswith("\n")
        assert self.out.count("\n") == 1
        return json.loads(self.out)


@pytest.fixture(autouse=True)
def data_folder(settings, tmp_path):
    settings.DATA_FOLDER = tmp_path


# create_project


def test_a_project_is_made_with_its_people_and_their_passwords():
    make_person("ana", password="her own long one")
    said = Said(
        "create_project", "replies", "--title-en", "Replies", "--title-zh", "回复", "--seed", "5", "--languages", "zh",
        "--lead", "lea", "--annotator", "ana", "--annotator", "ben", "--json",
    )  # fmt: skip
    assert (said.code, said.err) == (0, "")
    assert said.object.keys() == {"project", "seed", "logins"}
    assert (said.object["project"], said.object["seed"]) == ("replies", 5)
    lea, ana, ben = said.object["logins"]
    assert [(one["username"], one["role"]) for one in (lea, ana, ben)] == [
        ("lea", "lead"),
        ("ana", "annotator"),
        ("ben", "annotator"),
    ]
    assert ana["password"] is None
    for login in (lea, ben):
        assert Person.objects.get(username=login["username"]).check_password(login["password"])
    project = Project.objects.get()
    assert (project.title_en, project.title_zh, project.languages) == ("Replies", "回复", ["zh"])
    assert dict(Membership.objects.values_list("person__username", "role")) == {
        "lea": "lead",
        "ana": "annotator",
        "ben": "annotator",
    }
    assert Membership.objects.get(person=Person.objects.get(username="ben")).languages == ["zh"]


def test_a_project_is_made_with_everything_open_unless_it_is_said_otherwise():
    Said("create_project", "as-it-comes")
    Said(
        "create_project", "otherwise", "--open-phase", "practice", "--open-lead", "--text-beside-calls", "visible",
        "--show", "plain",
    )  # fmt: skip
    settings = {
        project.slug: (project.open_phase, project.open_lead, project.settings) for project in Project.objects.all()
    }
    assert settings == {
        "as-it-comes": ("main", False, {"text_beside_calls": "private", "show": "light"}),
        "otherwise": ("practice", True, {"text_beside_calls": "visible", "show": "plain"}),
    }


@pytest.mark.parametrize("option", ["--open-phase", "--text-beside-calls", "--show"])
def test_a_setting_there_is_not_is_a_mistake_of_usage(option):
    with pytest.raises(CommandError, match="invalid choice: 'x'"):
        Said("create_project", "replies", option, "x")
    assert not Project.objects.exists()


def test_without_json_the_passwords_are_said_in_lines():
    said = Said("create_project", "replies", "--annotator", "ben")
    assert said.code == 0
    password = re.search(r"annotator +ben +password (\S+)", said.out)[1]
    assert Person.objects.get().check_password(password)
    assert f"The project replies is there, seed {Project.objects.get().seed}." in said.out
    again = Said("create_project", "other", "--annotator", "ben")
    assert "has an account already" in again.out


def test_a_name_that_is_taken_ends_with_exit_1_and_the_problem_on_both_streams():
    make_project("replies")
    said = Said("create_project", "replies", "--annotator", "ben", "--json")
    assert said.code == 1
    (problem,) = said.object["problems"]
    assert (problem["code"], problem["field"]) == ("duplicate_id", "slug")
    assert problem["expected"] == "There is a project replies already."
    assert problem["remedy"] == "Choose another name."
    assert "duplicate_id. There is a project replies already. Choose another name." in said.err
    assert Project.objects.count() == 1
    assert not Person.objects.exists()


@pytest.mark.parametrize("slug", ["two words", "回复", "a/b", "", "-", "../x", "a.b"])
def test_a_name_that_is_no_address_is_refused(slug):
    said = Said("create_project", "--seed=1", "--json", "--", slug)
    assert said.code == 1
    assert said.object["problems"][0]["field"] == "slug"
    assert not Project.objects.exists()


def test_a_name_that_is_too_long_is_refused():
    said = Said("create_project", "x" * 61, "--json")
    assert said.code == 1
    assert said.object["problems"][0]["field"] == "slug"
    assert Said("create_project", "x" * 60).code == 0


@pytest.mark.parametrize(
    ("words", "code", "field"),
    [
        (["--kind", "Reply"], "unknown_kind", "kind"),
        (["--lead", "lea", "--annotator", "lea"], "duplicate_id", "person"),
        (["--lead", "lea", "--annotator", "two words"], "wrong_type", "name"),
        (["--lead", ""], "wrong_type", "name"),
        (["--annotator", "x" * 151], "wrong_type", "name"),
        (["--title-en", "x" * 201], "too_many", "title_en"),
        (["--title-zh", "字" * 201], "too_many", "title_zh"),
        (["--lead", "Lea", "--annotator", "lea"], "duplicate_id", "person"),
    ],
)
def test_a_refusal_leaves_nothing_behind(words, code, field):
    said = Said("create_project", "replies", *words, "--json")
    assert said.code == 1
    assert [(one["code"], one["field"]) for one in said.object["problems"]] == [(code, field)]
    assert not Project.objects.exists()
    assert not Person.objects.exists()
    assert Said("create_project", "replies").code == 0


def test_an_account_nobody_can_sign_in_to_is_refused_by_name_and_nothing_is_made():
    ana = make_person("ana")
    said = Said("create_project", "replies", "--lead", "lea", "--annotator", "Ana", "--json")
    assert said.code == 1
    (problem,) = said.object["problems"]
    assert (problem["code"], problem["field"]) == ("no_password", "name")
    assert problem["expected"] == "The account ana has no password, so nobody can sign in with it."
    assert problem["remedy"] in said.err
    assert not Project.objects.exists()
    assert list(Person.objects.all()) == [ana]
    ana.set_password("her own long one")
    ana.save()
    assert Said("create_project", "replies", "--lead", "lea", "--annotator", "Ana").code == 0


@pytest.mark.parametrize("name", ["rosa", "Rosa", "ROSA", "\uff32osa"])
def test_a_name_in_another_case_or_width_is_the_person_who_is_there(name):
    rosa = make_person("Rosa", password="her own long one")
    said = Said("create_project", "replies", "--annotator", name, "--json")
    assert said.object["logins"] == [{"username": "Rosa", "password": None, "role": "annotator"}]
    assert Membership.objects.get().person == rosa
    assert Person.objects.count() == 1


def test_of_two_names_that_differ_in_case_the_very_one_is_taken():
    people = [make_person(name, password="a long one of each") for name in ("Rosa", "rosa")]
    for person in people:
        Said("create_project", f"of-{person.pk}", "--annotator", person.username)
        assert Membership.objects.get(project__slug=f"of-{person.pk}").person == person


@pytest.mark.parametrize("seed", ["-1", "x", "1.5", str(2**63)])
def test_a_seed_that_no_generator_takes_is_a_mistake_of_usage(seed):
    with pytest.raises(CommandError, match="a seed is a whole number from 0 to "):
        Said("create_project", "replies", f"--seed={seed}")
    assert not Project.objects.exists()
    assert Said("create_project", "replies", f"--seed={2**63 - 1}").code == 0


def test_a_language_there_is_not_is_a_mistake_of_usage():
    with pytest.raises(CommandError, match="invalid choice: 'de'"):
        Said("create_project", "replies", "--languages", "de")
    assert not Project.objects.exists()


# list_projects


def test_the_list_of_projects_has_exactly_this_shape():
    assert Said("list_projects", "--json").out == '{"projects": []}\n'
    make_project("b-project", title_en="B", title_zh="乙", languages=["zh"], is_synthetic=True)
    make_project("a-project", title_en="A", title_zh="甲")
    assert Said("list_projects", "--json").object == {
        "projects": [
            {
                "slug": "a-project",
                "kind": "reply",
                "title_en": "A",
                "title_zh": "甲",
                "languages": ["en", "zh"],
                "is_synthetic": False,
            },
            {
                "slug": "b-project",
                "kind": "reply",
                "title_en": "B",
                "title_zh": "乙",
                "languages": ["zh"],
                "is_synthetic": True,
            },
        ]
    }
    assert [line.split() for line in Said("list_projects").out.splitlines()] == [
        ["a-project", "reply", "A"],
        ["b-project", "reply", "B", "(synthetic", "labels)"],
    ]
    with translation.override("zh-hans"):
        assert [line.split()[2] for line in Said("list_projects").out.splitlines()] == ["甲", "乙"]


# first_lead


def test_the_first_lead_gets_a_link_that_works():
    said = Said("first_lead", "--base-url", "http://127.0.0.1:9000/")
    secret = re.fullmatch(r"http://127\.0\.0\.1:9000/set-up/([\w-]+)/\n", said.out)[1]
    assert (said.code, said.err) == (0, "")
    assert find_set_up(secret, now=timezone.now()) == Invite.objects.get()
    link = Said("first_lead", "--json").object["link"]
    assert link.startswith("http://127.0.0.1:8000" + reverse("annotate:set_up", args=["x"])[:-2])
    assert find_set_up(secret, now=timezone.now()) is None


def test_once_there_is_a_lead_nothing_is_printed():
    make_person("lea", may_create_projects=True)
    said = Said("first_lead")
    assert (said.code, said.out, said.err) == (0, "", "")
    assert Said("first_lead", "--json").object == {"link": None}
    assert not Invite.objects.exists()


# load_demo


def counts():
    models = (Project, Person, Membership, Trace, Item, Assignment, Annotation, Event)
    return {model.__name__: list(model.objects.order_by("pk").values()) for model in models}


def test_the_demo_is_loaded_once_and_a_second_time_changes_nothing(data_folder):
    said = Said("load_demo", "--json")
    assert said.code == 0
    assert said.object["project"] == "demo"
    assert (said.object["created"], said.object["is_synthetic"]) == (True, True)
    logins = {(one["username"], one["role"]) for one in said.object["logins"]}
    assert logins == {("demo", "annotator"), ("lea", "lead")}
    for login in said.object["logins"]:
        assert Person.objects.get(username=login["username"]).check_password(login["password"])
    before = counts()
    again = Said("load_demo", "--json")
    assert again.object == {**said.object, "created": False}
    assert counts() == before
    assert Said("load_demo").out.startswith("The demo was there already; its labels are synthetic.\n")


def test_loading_the_demo_says_that_its_labels_are_synthetic():
    said = Said("load_demo")
    assert said.out.startswith("The demo is loaded; its labels are synthetic.\n")
    assert demo_passwords()["demo"] in said.out


def test_a_password_that_was_changed_is_not_printed_any_more():
    Said("load_demo")
    lea = Person.objects.get(username="lea")
    lea.set_password("a password of her own")
    lea.save()
    assert [one["username"] for one in Said("load_demo", "--json").object["logins"]] == ["demo"]


def test_a_load_of_the_demo_that_is_cut_off_leaves_nothing_and_is_begun_anew(monkeypatch):
    def cut_off(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as cut:
        cut.setattr("annotate.demo.label_everything", cut_off)
        with pytest.raises(KeyboardInterrupt):
            Said("load_demo")
    assert not Project.objects.exists()
    assert not Person.objects.exists()
    assert len(Said("load_demo", "--json").object["logins"]) == 2


# What the README tells to type


def readme_commands():
    """The words of every `./run manage` line of its examples."""
    lines = [line for line in README.read_text("utf-8").splitlines() if line.startswith("./run manage ")]
    return [shlex.split(line, comments=True)[2:] for line in lines]


def test_the_commands_of_the_readme_work_on_a_fresh_demo_installation_as_they_stand_there(tmp_path, monkeypatch):
    monkeypatch.setattr("scoring.comparing.N_RESAMPLES", 100)
    monkeypatch.chdir(tmp_path)
    shutil.copy(DEMO / "main.jsonl", "runs.jsonl")
    raters = ("rosa", "tim", "bot")
    rows = [f"{item},{rater},{'yes' if item % 3 else 'no'},r{item % 6}" for item in range(12) for rater in raters]
    Path("ratings.csv").write_text("\n".join(["item,rater,label,run", *rows]), encoding="utf-8")
    Said("load_demo")
    said = {}
    for words in readme_commands():
        said[" ".join(words)] = one = Said(*words)
        assert one.code == 0, f"{words}: {one.err}"
    assert [words[0] for words in readme_commands()] == [
        *("inspect_traces", "create_project", "list_projects", "import_traces", "agreement", "run_judge"),
        *("seal_release", "export_release", "agreement", "agreement"),
    ]
    new = {line.split()[1] for text in said.values() for line in text.out.splitlines() if " password " in line}
    assert new == {"rosa", "tim"}
    for name in new:
        assert Person.objects.get(username=name).has_usable_password()
        assert Assignment.objects.filter(annotator__person__username=name, state="open").count() == 1


def test_no_line_of_a_command_breaks_in_chinese(tmp_path):
    with translation.override("zh-hans"):
        assert Said("load_demo").out.startswith("演示")
        assert "项目" in Said("create_project", "x", "--annotator", "rosa").out
        for command in (["inspect_traces"], ["import_traces", "x"]):
            assert "条轨迹" in Said(*command, str(DEMO / "main.jsonl")).out
        said = Said("agreement", "demo", "--measure", "fail").out
    assert "条目" in said
    assert "agreement" not in said


# invite


def test_a_link_to_a_project_is_printed_and_works():
    project = make_project("replies")
    said = Said(
        "invite", "replies", "--role", "lead", "--languages", "zh", "--note", "for Rosa", "--days", "3",
        "--base-url", "https://labels.example/", "--json",
    )  # fmt: skip
    assert (said.code, said.err) == (0, "")
    made = Invite.objects.get()
    assert (made.project, made.role, made.languages, made.note) == (project, "lead", ["zh"], "for Rosa")
    link, expires_at = said.object.pop("link"), said.object.pop("expires_at")
    assert said.object.keys() == {"project", "role", "languages", "link", "expires_at"}
    assert link.startswith("https://labels.example/join/")
    assert find_invite(link.split("/")[-2], timezone.now()) == made
    assert expires_at == made.expires_at.isoformat(timespec="seconds")


def test_without_more_words_an_annotator_of_all_languages_is_invited():
    make_project("replies")
    said = Said("invite", "replies")
    assert re.fullmatch(r"http://127\.0\.0\.1:8000/join/[\w-]{43}/\n", said.out)
    made = Invite.objects.get()
    assert said.err == f"It works once, until {made.expires_at.isoformat(timespec='seconds')}.\n"
    assert (made.role, made.languages, made.note, made.created_by) == ("annotator", ["en", "zh"], "", None)
    assert Event.objects.get().action == "invite_made"


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (["--languages", "tlh"], "languages"),
        (["--days", "0"], "days"),
        (["--days", "61"], "days"),
        (["--note", "x" * 201], "note"),
        (["--note", "a\nb"], "note"),
        (["--note", "\udcff"], "note"),
    ],
)
def test_a_link_that_is_refused_is_not_made(words, field):
    make_project("replies")
    said = Said("invite", "replies", *words, "--json")
    assert said.code == 1
    assert [problem["field"] for problem in said.object["problems"]] == [field]
    assert not Invite.objects.exists()


def test_a_link_to_no_project_is_refused():
    assert Said("invite", "replies", "--json").object["problems"][0]["code"] == "unknown_project"


# password_link


def test_a_password_link_sets_a_new_password():
    ana = make_person("ana", password="her own long one")
    said = Said("password_link", "ana", "--json", "--base-url", "https://lab.example/")
    assert (said.code, said.err) == (0, "")
    secret = re.fullmatch(r"https://lab\.example/new-password/([\w-]{43})/", said.object["link"])[1]
    assert person_of_link(secret, now=timezone.now()) == ana
    plain = Said("password_link", "ANA")
    assert re.fullmatch(r"http://127\.0\.0\.1:8000/new-password/[\w-]{43}/\n", plain.out)
    assert person_of_link(secret, now=timezone.now()) is None  # the newer one counts
    assert Invite.objects.filter(purpose="password", revoked_at=None).count() == 1


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("nobody", "unknown_person", "There is no account nobody. Ask the person for the name they sign in with."),
        ("closed", "no_password", "Nobody can sign in with the account closed"),
        ("annotator", "no_password", "Nobody can sign in with the account annotator"),
    ],
)
def test_an_account_that_cannot_have_a_password_link_is_refused(name, code, words):
    make_person("ana", password="her own long one")
    make_person("closed", password="her own long one", is_active=False)
    make_person("annotator")
    said = Said("password_link", name, "--json")
    assert said.code == 1
    assert said.object["problems"][0]["code"] == code
    assert words in said.err
    assert not Invite.objects.exists()
