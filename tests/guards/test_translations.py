"""The interface in Chinese is whole: every message is there, in the agreed terms, and no page says anything past it.

After a change of words in code or templates, from the root of the project:

    .venv/bin/python manage.py makemessages -l zh_Hans --no-location --no-wrap --no-obsolete \\
        --ignore '.venv/*' --ignore 'data/*' --ignore 'tests/*' --ignore 'benchmarks/*'
    (translate what is new, take "fuzzy" away, set POT-Creation-Date back to what it was)
    cd locale/zh_Hans/LC_MESSAGES && msgfmt --check -o django.mo django.po
"""

import ast
import gettext
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.core.management import call_command
from django.template.base import Lexer, TokenType
from django.utils import translation

ROOT = Path(__file__).resolve().parent.parent.parent
CATALOGUE = ROOT / "locale" / "zh_Hans" / "LC_MESSAGES"
ELSEWHERE = {".venv", "data", "tests", "benchmarks"}

# Messages that are the same in both languages.
SAME = {"kappa"}
# Nothing else on a page stands outside of the catalogue: the product, and the switch that names a language in itself.
AS_IT_IS = {"Sightline", "En", "English", "中", "简体中文", "CSV", "JSON", "SHA-256", "8-9 DUP 4-5"}

HEADER = {
    "Project-Id-Version": "Sightline",
    "Report-Msgid-Bugs-To": "",
    "POT-Creation-Date": "2026-01-01 00:00+0000",
    "PO-Revision-Date": "2026-01-01 00:00+0000",
    "Last-Translator": "Sightline",
    "Language-Team": "Simplified Chinese",
    "Language": "zh_Hans",
    "MIME-Version": "1.0",
    "Content-Type": "text/plain; charset=UTF-8",
    "Content-Transfer-Encoding": "8bit",
    "Plural-Forms": "nplurals=1; plural=0;",
}

# A word of a message, and what its translation has to hold (docs/methods.md, Words in two languages). The first part
# are words of the methods, the second the people and things of the product.
TERMS = {
    r"repl(y|ies)": "回复",
    r"requester": "需求方",
    r"private context": "私有上下文",
    r"information gaps?": "信息缺口",
    r"definition": "定义",
    r"reference": "指代",
    r"background": "背景",
    r"coined label": "自造名称",
    r"readable": "可直接阅读",
    r"needs information": "需补充信息",
    r"unrepairable or no answer": "无法修复或未作答",
    r"redundant steps?": "冗余步骤",
    r"duplicated": "重复",
    r"abnormal": "异常",
    r"incorrect": "错误",
    r"exploratory": "探索性",
    r"evidence steps?": "依据步骤",
    r"corrections?": "纠正",
    r"preservation": "保持",
    r"selectivity": "选择性",
    r"exposure": "送达",
    r"closure": "用对",
    r"evidence substitution": "证据替代",
    r"rounding trap": "截断陷阱",
    r"annotators?": "标注者",
    r"reviewers?": "审定者",
    r"leads?": "负责人",
    r"projects?": "项目",
    r"items?": "条目",
    r"collaborations?": "协作",
    r"labels?": "标",
    r"guideline": "指南",
    r"protocol": "规程",
    r"clusters?": "簇",
    r"agreement": "一致性",
    r"intervals?": "区间",
    r"practice": "练习",
    r"pilot": "试标",
    r"main phase": "正式阶段",
    r"drafts?": "草稿",
    r"submit(ted)?": "提交",
    r"undo": "撤销",
    r"problems?": "问题",
    r"traces?": "轨迹",
}

PLACES = re.compile(r"%\(\w+\)[a-z]|%%|%[sd]|\{\w*\}")
FIXED = re.compile(r"</?\w+>|--[a-z][a-z-]*|`[^`]*`|\w+/[\w.-]+\.\w+")
HAN = "\u4e00-\u9fff"


@dataclass
class Entry:
    """One message of a catalogue file."""

    flags: set[str] = field(default_factory=set)
    texts: dict[str, str] = field(default_factory=dict)

    @property
    def key(self):
        return tuple(self.texts.get(name) for name in ("msgctxt", "msgid", "msgid_plural"))

    @property
    def ids(self):
        return [self.texts[name] for name in ("msgid", "msgid_plural") if name in self.texts]

    @property
    def words(self):
        return [text for name, text in self.texts.items() if name.startswith("msgstr")]


def entries_of(path):
    """The messages of a .po file, its header apart."""
    entries = []
    for block in re.split(r"\n{2,}", path.read_text(encoding="utf-8").strip()):
        entry, name = Entry(), ""
        for line in block.splitlines():
            if line.startswith("#,"):
                entry.flags |= {flag.strip() for flag in line[2:].split(",")}
            elif not line.startswith("#"):
                begins = re.fullmatch(r'(msg\w+(?:\[\d\])?) (".*")', line)
                name, text = begins.groups() if begins else (name, line)
                entry.texts[name] = entry.texts.get(name, "") + ast.literal_eval(text)
        if entry.texts.get("msgid"):
            entries.append(entry)
    return entries


@pytest.fixture(scope="module")
def entries():
    return entries_of(CATALOGUE / "django.po")


@pytest.fixture
def extracted(tmp_path, monkeypatch, settings):
    """The messages of code and templates as they are now."""

    def left_out(folder, names):
        is_root = Path(folder) == ROOT
        return [
            name
            for name in names
            if name.startswith(".")
            or (name in ELSEWHERE | {"locale"} if is_root else name == "__pycache__")
            or ((Path(folder) / name).is_file() and not name.endswith((".py", ".html", ".txt")))
        ]

    copy = tmp_path / "copy"
    shutil.copytree(ROOT, copy, ignore=left_out)
    (copy / "locale").mkdir()
    monkeypatch.chdir(copy)
    settings.LOCALE_PATHS = [copy / "locale"]
    call_command("makemessages", locale=["zh_Hans"], no_location=True, no_wrap=True, verbosity=0)
    return entries_of(copy / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po")


def test_the_catalogue_holds_the_messages_there_are(extracted, entries):
    now, kept = ({entry.key for entry in some} for some in (extracted, entries))
    assert not now - kept, f"not in django.po yet: {sorted(map(str, now - kept))}"
    assert not kept - now, f"no longer used: {sorted(map(str, kept - now))}"
    assert len(kept) == len(entries) > 300


def test_every_message_is_translated(entries):
    untranslated = [
        entry.key
        for entry in entries
        for words in entry.words or [""]
        if not words.strip() or (words in entry.ids and words not in SAME)
    ]
    assert not untranslated
    assert [entry.key for entry in entries if "fuzzy" in entry.flags] == []
    assert "\n#~" not in (CATALOGUE / "django.po").read_text(encoding="utf-8"), "remove what is obsolete (#~)"
    assert all(len(entry.words) == 1 for entry in entries), "Chinese has one plural form"


def test_what_is_filled_in_or_typed_is_the_same_on_both_sides(entries):
    for entry in entries:
        for words in entry.words:
            for pattern in (PLACES, FIXED):
                assert sorted(pattern.findall(words)) == sorted(pattern.findall(entry.ids[-1])), entry.key


def test_sentences_have_chinese_punctuation(entries):
    for entry in entries:
        for words in entry.words:
            said = FIXED.sub("x", PLACES.sub("x", words))
            assert not re.search(rf"[{HAN}]\s*[,.;:?!()\"']|\s[，。、：；？！）”]|[（“]\s", said), words
            for id_ in entry.ids:
                assert id_.endswith((".", "?")) == words.endswith(("。", "？", "！")), words


@pytest.mark.parametrize(("term", "expected"), TERMS.items())
def test_terms_are_translated_the_same_way_everywhere(entries, term, expected):
    for entry in entries:
        for id_ in entry.ids:
            said = FIXED.sub("", PLACES.sub("", re.sub(r"<code>.*?</code>", "", id_)))
            if re.search(rf"\b[{term[0]}{term[0].upper()}]{term[1:]}\b", said):
                assert all(expected in words for words in entry.words), f"{id_!r}: {entry.words} without {expected}"


def test_the_header_names_no_person_and_no_day(entries):
    first = (CATALOGUE / "django.po").read_text(encoding="utf-8").split("\n\n")[0]
    said = "".join(ast.literal_eval(line) for line in first.splitlines() if line.startswith('"'))
    assert dict(line.split(": ", 1) for line in said.splitlines()) == HEADER
    assert not re.search(r"^#:", (CATALOGUE / "django.po").read_text(encoding="utf-8"), re.MULTILINE)


def test_the_compiled_catalogue_is_the_one_of_the_text(tmp_path):
    compiled = tmp_path / "django.mo"
    subprocess.run(["msgfmt", "--check", "-o", compiled, CATALOGUE / "django.po"], check=True)
    assert read_mo(compiled) == read_mo(CATALOGUE / "django.mo")


def read_mo(path):
    with path.open("rb") as file:
        return gettext.GNUTranslations(file)._catalog


def test_pages_find_the_catalogue(entries):
    plain = [entry for entry in entries if entry.key[0] is None and "msgid_plural" not in entry.texts]
    with translation.override("zh-hans"):
        for entry in plain:
            assert translation.gettext(entry.ids[0]) == entry.words[0]


# Words that extraction cannot see


FUNCTIONS = {"_", "gettext", "gettext_noop", "gettext_lazy", "ngettext", "ngettext_lazy"}


def unseen(source, ids):
    """The literal messages in Python source that are not among the ids, such as one inside an f-string."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and node.args:
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            message = node.args[0]
            if name in FUNCTIONS and isinstance(message, ast.Constant) and message.value not in ids:
                yield f"{message.lineno}: {message.value}"


def test_extraction_sees_every_message_in_python(entries):
    ids = {id_ for entry in entries for id_ in entry.ids}
    paths = [path for app in ("annotate", "scoring", "config") for path in (ROOT / app).rglob("*.py")]
    found = [f"{path.relative_to(ROOT)}:{one}" for path in paths for one in unseen(path.read_text("utf-8"), ids)]
    assert not found, "\n".join(found)
    assert list(unseen("line = f\"{gettext('no such message')}\"", ids)) == ["1: no such message"]


# Words of commands outside of the catalogue


SAYING = {"say", "write"}


def literals_of(node):
    """The literal texts that an expression puts together, those handed to gettext apart."""
    if isinstance(node, ast.Constant):
        yield from [node] if isinstance(node.value, str) else []
    elif isinstance(node, ast.Call):
        if getattr(node.func, "id", getattr(node.func, "attr", "")) not in FUNCTIONS:
            parts = [node.func.value] if isinstance(node.func, ast.Attribute) else []
            yield from (one for part in [*parts, *node.args] for one in literals_of(part))
    elif not isinstance(node, ast.Subscript | ast.Compare):  # a key and what is compared are not said
        named = {ast.FormattedValue: ["value"], ast.IfExp: ["body", "orelse"], ast.Dict: ["values"]}
        for name in named.get(type(node), node._fields):
            parts = getattr(node, name)
            for part in parts if isinstance(parts, list) else [parts]:
                yield from literals_of(part) if isinstance(part, ast.AST) else []


def untranslated(source):
    """What a command yields as a line, or says or writes, with words of its own that nothing translates."""
    for node in ast.walk(ast.parse(source)):
        said = []
        if isinstance(node, ast.Yield | ast.YieldFrom) and node.value:
            said = [node.value]
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in SAYING:
            said = node.args
        for literal in (one for part in said for one in literals_of(part)):
            if re.search(r"[^\W\d_]", literal.value):
                yield f"{literal.lineno}: {literal.value.strip()}"


def test_commands_say_nothing_outside_of_the_catalogue():
    paths = [path for app in ("annotate", "scoring") for path in (ROOT / app / "management").rglob("*.py")]
    found = [f"{path.relative_to(ROOT)}:{one}" for path in paths for one in untranslated(path.read_text("utf-8"))]
    assert not found, "\n".join(found)
    assert len(paths) > 8


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(): yield f'{n} files'", ["1: files"]),
        ("def f(): yield 'a' if n else gettext('b')", ["1: a"]),
        ("self.say(f\"{x}: {', '.join(y)} left\")", ["1: left"]),
        ("self.stdout.write('no %s' % n)", ["1: no %s"]),
        ("def f(): yield from filter(None, ['Pilot', x])", ["1: Pilot"]),
        ("def f(): yield gettext('%(n)s left') % {'n': n or 'none'}", ["1: none"]),
        ("def f(): yield f'{x[\"slug\"]:20} {n:d} · {gettext(\"b\")}'", []),
        ("def f(): yield gettext('%(n)s left') % {'n': n}", []),
        ("self.stdout.write(json.dumps(x, ensure_ascii=False))", []),
        ("def f(): yield x['word'] if x['state'] == 'refused' else ''", []),
    ],
)
def test_a_word_of_a_command_is_found(source, expected):
    assert list(untranslated(source)) == expected


# Words of templates outside of the catalogue


SHOWN_ATTRIBUTES = {"title", "aria-label", "aria-description", "placeholder", "alt", "label"}
BUTTONS = {"submit", "button", "reset"}
NOT_READ = {"script", "style", "kbd"}
WORDS_OF_FILTERS = re.compile(r"\|(?:default|default_if_none|yesno|add|pluralize|join):(?:\"([^\"]*)\"|'([^']*)')")


def without_tags(source):
    """The HTML of a template with Django's tags and what they translate taken out, line by line; literals of filters
    stand where they would be shown."""
    html, within = [], ""
    for token in Lexer(source).tokenize():
        if token.token_type == TokenType.BLOCK:
            tag = token.contents.split()[0]
            if within and tag == f"end{within}":
                within = ""
            elif not within and tag in ("blocktranslate", "blocktrans", "comment"):
                within = tag
            elif not within and tag == "block" and token.contents.endswith("_class"):
                within = "block"  # of the parent's class attribute
        elif token.token_type == TokenType.VAR:
            html += [f" {one or other} " for one, other in WORDS_OF_FILTERS.findall(token.contents)]
        elif token.token_type == TokenType.TEXT:
            html.append("\n" * token.contents.count("\n") if within else token.contents)
    return "".join(html)


class ShownWords(HTMLParser):
    """Collects what a person sees or hears: text, and the attributes that are read out."""

    def __init__(self):
        super().__init__()
        self.words, self.unread = [], 0

    def handle_starttag(self, tag, attrs):
        self.unread += tag in NOT_READ
        attributes = dict(attrs)
        for name, value in attrs:
            if (
                name in SHOWN_ATTRIBUTES
                or name.startswith("data-say-")
                or (name == "value" and tag == "input" and attributes.get("type") in BUTTONS)
            ):
                self.words.append((self.getpos()[0], value or ""))

    def handle_endtag(self, tag):
        self.unread -= tag in NOT_READ

    def handle_data(self, data):
        if not self.unread:
            self.words.append((self.getpos()[0], data))


def hard_words(source):
    """The words of a template that nothing translates, with their lines."""
    parser = ShownWords()
    parser.feed(without_tags(source))
    parser.close()
    found = [
        (line + text[: len(text) - len(text.lstrip())].count("\n"), " ".join(text.split()))
        for line, text in parser.words
    ]
    return [f"{line}: {text}" for line, text in found if re.search(r"[^\W\d_]", text) and text not in AS_IT_IS]


def templates():
    folders = [ROOT / "templates", *(ROOT / "annotate").rglob("templates"), *(ROOT / "scoring").rglob("templates")]
    return sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in (".html", ".txt"))


def test_templates_say_nothing_outside_of_the_catalogue():
    found = [f"{path.relative_to(ROOT)}:{one}" for path in templates() for one in hard_words(path.read_text("utf-8"))]
    assert not found, "\n".join(found)
    assert len(templates()) > 25


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<p>\nHello</p>", ["2: Hello"]),
        ("<p>标注</p>", ["1: 标注"]),
        ("{% if a %}\n<b>{{ n }} files</b>{% endif %}", ["2: files"]),
        ('<button title="Close">✕</button>', ["1: Close"]),
        ('<p data-say-saved="Saved"></p>', ["1: Saved"]),
        ('<input type="submit" value="Send">', ["1: Send"]),
        ("{{ reason|default:'none' }}", ["1: none"]),
        ("<b title=\"{{ reason|default:'none' }}\"></b>", ["1: none"]),
        ('{% blocktranslate %}Yes{% endblocktranslate %}\n{% translate "Yes" %} no', ["2: no"]),
    ],
)
def test_a_hard_word_is_found(source, expected):
    assert hard_words(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        '{% translate "Yes" %} · {% blocktranslate trimmed %}\n{{ n }} files{% endblocktranslate %}',
        "<button title=\"{% translate 'Close' %}\"><kbd>Ctrl+Enter</kbd> ✕ 95 %</button>",
        '<input type="hidden" name="next" value="home">{# a remark #}{% comment %}another{% endcomment %}',
        '<a href="{% url \'home\' %}">Sightline</a> {{ at|date:"Y-m-d" }} {{ person.name }}',
        '<ul id="{{ name|default:"problems" }}"></ul>',
        "<script>const word = 1;</script>{% block body_class %}labelling{% endblock %}",
    ],
)
def test_what_is_translated_or_no_word_is_left_alone(source):
    assert hard_words(source) == []
