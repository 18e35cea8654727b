"""Which way imports point, read from the source without importing it. The table is the one the code is laid out by: a
row never imports one below it."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent.parent
PROJECT = ("annotate", "scoring", "config")
OWN = "its own folder"
ANYTHING = "anything"

TEXTS = ("annotate.rules", "annotate.traces")
PURE_KINDS = (*TEXTS, "annotate.kinds.base")
BELOW_SERVICES = (
    *TEXTS,
    *("annotate.kinds", "annotate.models", "annotate.prepared", "annotate.queries", "annotate.lead_queries"),
    *("annotate.release_queries", "annotate.review_queries", "annotate.round_queries", "annotate.pool_queries"),
    *("annotate.subset_queries", "annotate.pair_queries"),
    *("annotate.errors", "annotate.waking"),
)
SCORING_BELOW_SERVICES = tuple(
    f"scoring.{name}"
    for name in (
        *("stats", "methods", "judges", "tools", "values", "models", "errors"),
        *("queries", "label_queries", "report_queries", "item_queries", "reply_queries", "reply_records"),
        *("llm_addresses", "llm_sentences", "endpoint_queries", "pasting_queries", "publishing_queries"),
        *("prompt_queries", "asking", "call_queries", "point_queries", "redundancy_queries", "redundancy_records"),
        *("gap_queries", "material_queries", "jury_queries", "experience_queries"),
        *("prediction_matches", "prediction_queries"),
    )
)
ANNOTATE_SERVICES = (
    *("importing", "staging", "assigning", "labeling", "reviewing", "exporting"),
    *("releasing", "release_reading", "spool"),
    *("setting_up", "demo", "blind", "work", "uploading", "knowing", "people", "inviting", "accounts", "sessions"),
    *("tokens", "rounds", "qualifying", "pools", "subsets", "pairing", "known_files"),
)
SCORING_SERVICES = (
    *("running", "material", "publishing", "comparing", "reports", "compared_items", "spreadsheet", "llm", "sealing"),
    *("jury_sealing", "prediction_imports"),
    "publishing_texts",
    "overlap",
    *("method_reports", "method_joins", "reply_joins", "redundancy_joins", "flagging"),
    "predictions",
    *("prompting", "pointing", "experience"),
    *("endpoints", "endpoint_keys", "recorded", "pasting"),
    *("calling", "driving", "estimating"),
)


def modules(app, names):
    return tuple(f"{app}.{name}" for name in names)


def files(app, names):
    return tuple(f"{app}/{name}.py" for name in names)


@dataclass(frozen=True)
class Row:
    """Code that is bound by the same rule. `never` takes away from what `allowed` gives; both are module names, and a
    package stands for all in it."""

    name: str
    files: tuple[str, ...]
    allowed: tuple[str, ...]
    never: tuple[str, ...] = ()

    def covers(self, path: str) -> bool:
        return any(fnmatchcase(path, pattern) for pattern in self.files)

    def allows(self, name: str, path: str) -> bool:
        if any(within(name, pattern) for pattern in self.never):
            return False
        own = ".".join(PurePosixPath(path).parent.parts)
        return any(pattern == ANYTHING or within(name, own if pattern == OWN else pattern) for pattern in self.allowed)

    def rule(self) -> str:
        never = f", never {', '.join(self.never)}" if self.never else ""
        return f"the standard library, {', '.join(self.allowed) or 'nothing else'}{never}"


def within(name: str, pattern: str) -> bool:
    """Whether a module is the one meant, or in the package meant; `*` stands for one name."""
    parts, wanted = name.split("."), pattern.split(".")
    return len(parts) >= len(wanted) and all(fnmatchcase(*pair) for pair in zip(parts, wanted, strict=False))


# The first row that covers a file is its row.
ROWS = (
    Row("config/, read before anything is there", ("config/env.py", "config/start.py"), ()),
    Row("config/broker.py, which kombu loads", ("config/broker.py",), ("kombu",)),
    Row(
        "config/",
        ("config/*.py", "manage.py"),
        ("config.env", "config.celery", "config.broker", "config.logs", "django", "csp", "celery"),
    ),
    Row("scoring/stats/", ("scoring/stats/*",), ("numpy", "scipy", "krippendorff", "scoring.stats")),
    Row("shapes that pages draw", ("scoring/charts.py",), TEXTS),
    Row("annotate/rules/", ("annotate/rules/*",), ("numpy", "annotate.traces.base", OWN)),
    Row("annotate/traces/", ("annotate/traces/*",), ("numpy", OWN)),
    Row("how models are asked", ("scoring/asking.py",), TEXTS),
    Row("errors.py", ("annotate/errors.py", "scoring/errors.py"), TEXTS),
    Row("scoring/methods/", ("scoring/methods/*",), ("numpy", "scipy", "krippendorff", "scoring.stats", *TEXTS, OWN)),
    Row(
        "rows as the records of a method",
        files("scoring", ("reply_records", "redundancy_records")),
        (*TEXTS, "scoring.methods"),
    ),
    Row("how predictions stand to the gold", ("scoring/prediction_matches.py",), (*TEXTS, "scoring.stats")),
    Row("kinds/base.py", ("annotate/kinds/base.py",), TEXTS),
    Row("kinds/spine.py", ("annotate/kinds/spine.py",), PURE_KINDS),
    Row(
        "form.py or kind.py of a kind",
        ("annotate/kinds/*/form.py", "annotate/kinds/*/kind.py"),
        ("django", *PURE_KINDS, OWN),
    ),
    Row(
        "template tags of a kind",
        ("annotate/kinds/*/templatetags/*.py",),
        ("django", *PURE_KINDS, "annotate.kinds.*"),
        ("annotate.kinds.*.kind", "annotate.kinds.registry"),
    ),
    Row(
        "a kind's folder",
        ("annotate/kinds/*/*.py",),
        (*PURE_KINDS, OWN),
        ("annotate.kinds.*.kind", "annotate.kinds.*.form"),
    ),
    Row(
        "scoring/judges/ or scoring/tools/",
        ("scoring/judges/*", "scoring/tools/*"),
        (*TEXTS, "annotate.kinds", "scoring.methods", "scoring.stats", OWN),
        ("annotate.kinds.registry", "annotate.kinds.*.kind", "annotate.kinds.*.form"),
    ),
    Row(
        "the programs that children of scoring/values/ run",
        files("scoring/values", ("child", "tiny_worker", "search_worker")),
        (),
    ),
    Row("the program of the child that runs PHREEQC", ("scoring/values/phreeqc_worker.py",), ("phreeqc",)),
    Row("scoring/values/", ("scoring/values/*",), (*TEXTS, OWN)),
    Row("kinds/registry.py", ("annotate/kinds/registry.py",), ("django", *TEXTS, "annotate.kinds")),
    Row("annotate/models/", ("annotate/models/*",), ("django", *TEXTS, "annotate.kinds", OWN)),
    Row("prepared.py", ("annotate/prepared.py",), ("django",)),
    Row("parquet.py, the program of a child", ("annotate/parquet.py",), ("pyarrow",)),
    Row(
        "annotate/release_queries.py, review_queries.py, round_queries.py, subset_queries.py or pair_queries.py",
        files("annotate", ("release_queries", "review_queries", "round_queries", "subset_queries", "pair_queries")),
        ("django", *TEXTS, "annotate.models", "annotate.lead_queries"),
    ),
    Row(
        "annotate/pool_queries.py",
        ("annotate/pool_queries.py",),
        ("django", *TEXTS, "annotate.models", "annotate.prepared", "annotate.queries"),
    ),
    Row("waking.py", ("annotate/waking.py",), ("django", "celery")),
    Row(
        "hashing.py or throttle.py, which settings name",
        files("annotate", ("hashing", "throttle")),
        ("django", "axes", "annotate.errors"),
    ),
    Row(
        "annotate/queries.py or lead_queries.py",
        ("annotate/queries.py", "annotate/lead_queries.py"),
        ("django", "numpy", *TEXTS, "annotate.kinds", "annotate.models", "annotate.prepared"),
    ),
    Row(
        "scoring/models/ or scoring/queries.py",
        (
            *("scoring/models/*", "scoring/reply_queries.py", "scoring/redundancy_queries.py"),
            *("scoring/gap_queries.py", "scoring/jury_queries.py"),
            "scoring/prediction_queries.py",
            *files("scoring", ("queries", "label_queries", "report_queries", "item_queries", "prompt_queries")),
            *files("scoring", ("endpoint_queries", "pasting_queries", "call_queries", "publishing_queries")),
            *files("scoring", ("point_queries", "material_queries", "experience_queries")),
        ),
        ("django", "numpy", *BELOW_SERVICES, *SCORING_BELOW_SERVICES),
    ),
    Row(
        f"a service ({', '.join(ANNOTATE_SERVICES)})",
        files("annotate", ANNOTATE_SERVICES),
        ("django", "numpy", *BELOW_SERVICES, *modules("annotate", ANNOTATE_SERVICES)),
    ),
    Row(
        "where models may be asked, and what is said when they cannot be",
        files("scoring", ("llm_addresses", "llm_sentences")),
        (*TEXTS, "scoring.llm_addresses"),
    ),
    Row(
        "the door to models, the only code that talks to a provider",
        files("scoring", ("llm", "llm_network")),
        (
            *("django", "openai", "httpx2", "httpcore2", *TEXTS, "scoring.models", "scoring.endpoint_keys"),
            *("scoring.recorded", "scoring.llm_addresses", "scoring.llm_sentences", "scoring.llm_network"),
        ),
    ),
    Row("keys of endpoints", files("scoring", ("endpoint_keys",)), ("django", "cryptography", "scoring.models")),
    Row(
        f"a service ({', '.join(SCORING_SERVICES)})",
        files("scoring", SCORING_SERVICES),
        (
            *("django", "numpy", *BELOW_SERVICES, *modules("annotate", ANNOTATE_SERVICES)),
            *(*SCORING_BELOW_SERVICES, *modules("scoring", SCORING_SERVICES)),
        ),
    ),
    Row(
        "a page of annotators (views/label.py, api/label.py and shown.py), which shows what comes from blind.py",
        ("annotate/views/label.py", "annotate/api/label.py", "annotate/api/shown.py"),
        (
            *("django", "django_htmx", "rest_framework", *TEXTS, "annotate.kinds", "annotate.errors"),
            *(*modules("annotate", ANNOTATE_SERVICES), "annotate.forms", "annotate.markdown", "annotate.middleware"),
            *modules("annotate.api", ("errors", "fields", "operations", "reading", "shown")),
        ),
    ),
    Row("migrations/", ("*/migrations/*",), ("django", "annotate.models", "scoring.models")),
    Row("templatetags/, which get values", ("annotate/templatetags/*",), ("django", *PURE_KINDS)),
    Row(
        "templatetags/, which get values",
        ("scoring/templatetags/*",),
        (
            *("django", *PURE_KINDS, "scoring.stats", "scoring.methods"),
            *("scoring.words", "scoring.charts", "scoring.method_charts"),
        ),
    ),
    Row(
        "a view, form, command or task of annotate",
        (
            *("annotate/views/*", "annotate/api/*", "annotate/management/*"),
            *files("annotate", ("forms", "people_forms", "import_forms", "project_forms")),
            *files("annotate", ("tasks", "urls", "apps", "checks", "middleware", "markdown")),
        ),
        (ANYTHING,),
        ("scoring", "config"),
    ),
    Row(
        "a view, form, command or task of scoring",
        (
            *("scoring/management/*", "scoring/api/*"),
            *files("scoring", ("release_views", "release_api", "run_views", "run_forms", "run_api", "overlap_api")),
            *files("scoring", ("endpoint_views", "endpoint_forms", "pasting_views")),
            *files("scoring", ("agreement_shown", "compared_views", "item_views", "settled_views", "overlap_views")),
            *files("scoring", ("method_views", "method_api", "reading_views", "prompt_views", "publishing_views")),
            *files("scoring", ("point_views", "point_api")),
            *files("scoring", ("prediction_views", "prediction_api", "prediction_import_views")),
            *files("scoring", ("experience_views", "experience_api")),
            *files("scoring", ("views", "api", "forms", "tasks", "urls", "apps", "checks")),
            *files("scoring", ("words", "agreement_words", "metric_words", "method_words")),
            *files("scoring", ("method_charts", "method_paragraph")),
        ),
        (ANYTHING,),
        ("config",),
    ),
)

HOMES = (
    ("scoring.stats", "scoring/, in a service such as comparing.py"),
    ("scoring", "scoring/, which may import annotate, never the other way round"),
    ("annotate.models", "queries.py where it reads, a service where it acts; for annotators in blind.py"),
    *((f"annotate.{name}", "a service; for annotators in blind.py") for name in ("queries", "lead_queries")),
    ("annotate.kinds.base", "a kind's folder"),
    ("annotate.kinds", "a service"),
    ("annotate.rules", "annotate/rules/ or a kind's folder"),
    ("annotate.traces", "annotate/traces/ or a kind's folder"),
    ("annotate.errors", "a service"),
    *((module, "a service") for module in modules("annotate", ANNOTATE_SERVICES)),
    *((module, "a view, form, command or task") for module in ("annotate", "config")),
    ("django", "queries.py where it reads, a service where it acts, a view where it answers"),
    *((name, "scoring/stats/ or annotate/rules/") for name in ("numpy", "scipy", "krippendorff")),
)
"""Where code that needs a module would be at home; the first that fits is said."""

PURE_PACKAGES = (
    *("annotate", "annotate/rules", "annotate/traces", "annotate/kinds", "annotate/kinds/*"),
    *("scoring", "scoring/stats", "scoring/methods", "scoring/judges", "scoring/tools", "scoring/values"),
)
FOLDER_FINDERS = {
    *("annotate/kinds/registry.py", "annotate/traces/sniff.py", "scoring/judges/registry.py"),
    *("scoring/methods/tables.py", "scoring/method_joins.py"),
}
"""Where modules are found by their folder and imported by name; nobody else may, as no arrow shows it."""
IMPORTS_BY_NAME = {"import_module", "__import__", "get_model", "import_string"}


@dataclass(frozen=True)
class Arrow:
    path: str
    line: int
    name: str
    is_inside: bool = False


def sources(root: Path = ROOT) -> dict[str, str]:
    """Every file of the product's own code by its path."""
    found = [root / "manage.py", *(path for name in PROJECT for path in (root / name).rglob("*.py"))]
    return {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in sorted(found)}


def module_of(path: str) -> str:
    return ".".join(PurePosixPath(path).with_suffix("").parts).removesuffix(".__init__")


@cache
def imports(path: str, text: str) -> list[tuple[int, str, tuple[str, ...], bool]]:
    """The import statements of a file: line, module, the names taken from it, and whether it stands in a function."""
    tree = ast.parse(text, path)
    scopes = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
    inside = {id(node) for scope in ast.walk(tree) if isinstance(scope, scopes) for node in ast.walk(scope)}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name, (), id(node) in inside) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names)
            found.append((node.lineno, imported_from(path, node), names, id(node) in inside))
    return found


def arrows(path: str, text: str, known: set[str]) -> list[Arrow]:
    """What a file imports. A name taken from a package is the module of that name, where there is one."""
    return [
        Arrow(path, line, name, is_inside)
        for line, module, names, is_inside in imports(path, text)
        for name in dict.fromkeys(
            f"{module}.{name}" if f"{module}.{name}" in known else module for name in names or [""]
        )
    ]


def imported_from(path: str, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    package = PurePosixPath(path).parent.parts
    return ".".join([*package[: len(package) - node.level + 1], *([node.module] if node.module else [])])


def row_of(path: str) -> Row | None:
    return next((row for row in ROWS if row.covers(path)), None)


def home_of(name: str) -> str:
    """Where code that needs this module could live."""
    return next((home for pattern, home in HOMES if within(name, pattern)), "a view, form, command or task")


def problems(texts: dict[str, str]) -> list[str]:
    """Every breach of the table in these files, one sentence each."""
    known = {module_of(path) for path in texts}
    found, graph = [], {}
    for path, text in texts.items():
        row = row_of(path)
        drawn = arrows(path, text, known)
        if row is None and drawn:
            found.append(
                f"{path}:1: no row of the table covers this file. Move it to where its row says, or add it there."
            )
        found += [sentence for arrow in drawn if row for sentence in wrong(arrow, row)]
        found += wrong_init(path, text) + hidden_imports(path, text)
        graph[module_of(path)] = {arrow.name: arrow for arrow in drawn if arrow.name in known}
    return found + rings(graph)


def wrong(arrow: Arrow, row: Row) -> Iterator[str]:
    if arrow.is_inside:
        yield (
            f"{arrow.path}:{arrow.line}: imports {arrow.name} inside a function, which hides a ring. "
            "Import it at the top; if that makes a ring, move the shared piece down a row."
        )
    top = arrow.name.split(".")[0]
    if top in sys.stdlib_module_names or row.allows(arrow.name, arrow.path):
        return
    yield (
        f"{arrow.path}:{arrow.line}: imports {arrow.name}. {row.name} may import {row.rule()}. "
        f"Code that needs {arrow.name} is at home in {home_of(arrow.name)}."
    )


def wrong_init(path: str, text: str) -> list[str]:
    folder = PurePosixPath(path).parent.as_posix()
    depth = folder.count("/")
    is_pure = any(fnmatchcase(folder, pattern) and depth == pattern.count("/") for pattern in PURE_PACKAGES)
    if path.endswith("/__init__.py") and is_pure and text.strip():
        return [f"{path}:1: is on the way to pure code, so it stays empty. Name things in a module and import that."]
    return []


@cache
def hidden_imports(path: str, text: str) -> list[str]:
    """Modules fetched by a name in a string: an arrow nobody sees."""
    if path in FOLDER_FINDERS or "/migrations/" in path:
        return []
    calls = [node for node in ast.walk(ast.parse(text, path)) if isinstance(node, ast.Call)]
    named = [(node.lineno, getattr(node.func, "attr", getattr(node.func, "id", ""))) for node in calls]
    return [
        f"{path}:{line}: {name}() is an import that no arrow shows. Import the module at the top."
        for line, name in named
        if name in IMPORTS_BY_NAME
    ]


def rings(graph: dict[str, dict[str, Arrow]]) -> list[str]:
    """Modules that import each other, each ring once."""
    found: dict[frozenset[str], str] = {}
    done: set[str] = set()

    def follow(module: str, way: list[str]) -> None:
        if module in way:
            ring = way[way.index(module) :]
            arrow = graph[ring[-1]][module]
            found.setdefault(
                frozenset(ring),
                f"{arrow.path}:{arrow.line}: closes a ring: {' -> '.join([*ring, module])}. "
                "Move what both need into a module that neither imports yet.",
            )
        elif module not in done:
            for following in graph.get(module, {}):
                follow(following, [*way, module])
            done.add(module)

    for module in graph:
        follow(module, [])
    return list(found.values())
