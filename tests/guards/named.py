"""The sixteen leaks that are planted one by one whatever happens, by the channel each goes through. The crawl, the twin
worlds, the predictors and the browser each catch some of them, in tests called `test_a_planted_leak_is_caught`."""

NAMED = (
    "data attribute",
    "HTML comment",
    "extra JSON field",
    "nested serializer",
    "CSV column",
    "ETag from a hidden field",
    "time-ordered id",
    "sort by model",
    "403 for foreign rows",
    "count in progress bar",
    "event frame",
    "console log",
    "mail subject",
    "file name in download",
    "error partial only",
    "stale history snapshot",
)
