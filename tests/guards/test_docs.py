"""Every command and every setting of the environment is named in the README."""

import ast
import re

import pytest

from tests.guards.arrows import ROOT

COMMANDS = sorted(
    path.stem
    for app in ("annotate", "scoring")
    for path in (ROOT / app / "management" / "commands").glob("*.py")
    if path.stem != "__init__"
)
READ_FROM = ("config/env.py", "config/settings.py")
NAME = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")


def environment_names(text):
    """Names of variables that this source reads: constants handed to `os.environ` or to a function of `env`."""
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "os.environ":
            found = [node.slice]
        elif isinstance(node, ast.Call) and re.match(r"(config\.)?env\.|os\.(environ|getenv)", ast.unparse(node.func)):
            found = node.args[:1]
        else:
            continue
        names |= {one.value for one in found if isinstance(one, ast.Constant) and NAME.fullmatch(str(one.value))}
    return names


VARIABLES = sorted({name for path in READ_FROM for name in environment_names((ROOT / path).read_text("utf-8"))})


def named_in(text, name):
    return re.search(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", text) is not None


CITED = re.compile(r"docs/([\w-]+\.md), ([A-Z][a-z ]+)")


@pytest.fixture(scope="module")
def readme():
    return (ROOT / "README.md").read_text("utf-8")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_in_the_readme(name, readme):
    assert named_in(readme, name), f"say in README.md what `./run manage {name}` is for"


@pytest.mark.parametrize("name", VARIABLES)
def test_a_variable_of_the_environment_is_in_the_readme(name, readme):
    assert named_in(readme, name), f"say in README.md what {name} sets and what it is without"


def test_variables_are_found_however_they_are_read():
    text = 'A = env.flag("ONE_A")\nB = os.environ.get("TWO_B", "x")\nC = os.environ["THREE_C"]\nD = x("NOT_D")'
    assert environment_names(text) == {"ONE_A", "TWO_B", "THREE_C"}
    assert {"SIGHTLINE_DATA", "DATABASE_URL", "IMPORT_MAX_NESTING"} <= set(VARIABLES)


def test_a_name_inside_another_does_not_count():
    assert named_in("| `load_demo` | loads it |", "load_demo")
    assert not named_in("reload_demo, load_demos", "load_demo")


def citations():
    """(file, document, section) for every section of a document that a comment or docstring names."""
    for app in ("annotate", "scoring", "config", "tests"):
        for path in (ROOT / app).rglob("*.py"):
            text = re.sub(r"\s*\n\s*(# )?", " ", path.read_text("utf-8"))
            yield from ((path.relative_to(ROOT), *found) for found in CITED.findall(text))


def test_a_section_that_code_cites_is_there():
    found = list(citations())
    assert {section for _, _, section in found} >= {"Tie rule", "Label rules", "Requester view and work record"}
    for path, document, section in found:
        headings = re.findall(r"^#+ (?:\d+\. )?(.+)$", (ROOT / "docs" / document).read_text("utf-8"), re.MULTILINE)
        assert section in headings, f"{path} cites {document}, {section}"


def test_code_cites_no_document_that_is_not_here():
    for app in ("annotate", "scoring", "config", "tests"):
        for path in (ROOT / app).rglob("*.py"):
            assert not re.search(r"\bmethods (\d+\.\d|A\d)", path.read_text("utf-8")), path
