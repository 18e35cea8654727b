"""`python -m tests.formats_page` writes docs/foreign-formats.md: what each reader decides, as it says itself."""

import inspect
from pathlib import Path

from annotate.traces.sniff import readers

PAGE = Path(__file__).resolve().parent.parent / "docs" / "foreign-formats.md"
HEAD = """# Foreign formats, one by one

How files and their formats are told, and what holds for all of them, is in [trace-format.md](trace-format.md). Here is
what each reader takes for a requester's message, a reply, a private message, a call, its result and so on, what it
leaves out and counts, and what it holds in memory. Each text is the one at the head of the reader itself
(`annotate/traces/`); a test keeps them equal, and `python -m tests.formats_page` writes this page.
"""


def page():
    parts = [HEAD]
    for format, reader in readers().items():
        if format != "sightline":
            parts.append(f"## `{format}`: {reader.TITLE}\n\n{paragraphs(inspect.getdoc(reader))}\n")
    return "\n".join(parts)


def paragraphs(text):
    """Lists begin behind an empty line, as Markdown wants it."""
    lines = []
    for line in text.splitlines():
        if line.startswith("- ") and lines and lines[-1] and not lines[-1].startswith(("- ", "  ")):
            lines.append("")
        lines.append(line)
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page())
