"""Guidelines are Markdown by leads, through one filter: parsed without HTML, then cleaned by an allow-list.

Agent output never comes here. No images: a remote one would tell its host who reads what.
"""

import nh3
from django.utils.html import format_html
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt

TAGS = {
    "p", "h1", "h2", "h3", "h4", "ul", "ol", "li", "em", "strong", "code", "pre", "blockquote", "hr", "br", "a",
    "table", "thead", "tbody", "tr", "th", "td", "s",
}  # fmt: skip

PARSER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def guideline_html(text: str) -> SafeString:
    """Clean HTML of a guideline."""
    html = nh3.clean(
        PARSER.render(text), tags=TAGS, attributes={"a": {"href"}}, url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer",
    )  # fmt: skip
    return format_html("{}", SafeString(html))
