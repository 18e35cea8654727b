"""Text as offsets count it, and whether a quote stands where it is said to stand (docs/methods.md, Text and quotes)."""


def canonical(text: str) -> str:
    """Line ends become LF, nothing else changes: offsets, quotes and hashes are on this form."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def slice_matches(text: str, start: int, end: int, quote: str) -> bool:
    """Whether `[start, end)`, in code points of canonical text, holds exactly the quote. Copies nothing of the text."""
    return 0 <= start < end <= len(text) and len(quote) == end - start and text.startswith(quote, start)
