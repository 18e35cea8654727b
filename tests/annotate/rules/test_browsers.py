"""A browser in two words, and nothing else of what it says."""

import pytest

from annotate.rules.browsers import browser_in_words

MOZILLA = "Mozilla/5.0"
WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (f"{MOZILLA} (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox, Linux"),
        (f"{MOZILLA} (Windows NT 10.0; Win64; x64) {WEBKIT} Chrome/156.0.0.0 Safari/537.36", "Chrome, Windows"),
        (f"{MOZILLA} (Windows NT 10.0) {WEBKIT} Chrome/156.0.0.0 Safari/537.36 Edg/156.0.0.0", "Edge, Windows"),
        (f"{MOZILLA} (Macintosh; Intel Mac OS X 10_15_7) {WEBKIT} Version/18.0 Safari/605.1.15", "Safari, macOS"),
        (f"{MOZILLA} (iPhone; CPU iPhone OS 18_0 like Mac OS X) {WEBKIT} CriOS/156.0 Safari/604.1", "Chrome, iPhone"),
        (f"{MOZILLA} (Linux; Android 15; Pixel 9) {WEBKIT} Chrome/156.0.0.0 Mobile Safari/537.36", "Chrome, Android"),
        (
            f"{MOZILLA} (Linux; Android 14) {WEBKIT} Chrome/130.0 Mobile Safari/537.36 MicroMessenger/8.0",
            "WeChat, Android",
        ),
        (f"{MOZILLA} (X11; CrOS x86_64 15000.0.0) {WEBKIT} Chrome/156.0.0.0 Safari/537.36", "Chrome, ChromeOS"),
        (f"{MOZILLA} (X11; Linux x86_64) {WEBKIT} HeadlessChrome/156.0.0.0 Safari/537.36", "Chrome, Linux"),
        ("curl/8.5.0", "curl"),
        ("Something (Windows)", "Windows"),
        ("lea.of.the.lab@example.org <script>", ""),
        ("", ""),
    ],
)
def test_a_browser_is_told_in_words(said, words):
    assert browser_in_words(said) == words
