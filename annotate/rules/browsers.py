"""What a browser calls itself, in two words: enough to know one's own again, and nothing else of it is kept."""

BROWSERS = (
    ("MicroMessenger", "WeChat"),
    ("HuaweiBrowser", "Huawei Browser"),
    ("SamsungBrowser", "Samsung Internet"),
    ("UCBrowser", "UC Browser"),
    ("QQBrowser", "QQ Browser"),
    ("Edg", "Edge"),
    ("OPR", "Opera"),
    ("Firefox", "Firefox"),
    ("FxiOS", "Firefox"),
    ("CriOS", "Chrome"),
    ("Chrom", "Chrome"),
    ("Safari", "Safari"),
    ("curl", "curl"),
    ("python", "Python"),
)
"""The first that occurs is it: most of them also name those below."""
SYSTEMS = (
    ("OpenHarmony", "HarmonyOS"),
    ("HarmonyOS", "HarmonyOS"),
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


def browser_in_words(user_agent: str) -> str:
    """`Firefox, Windows`; one of the two where the other is not known, and "" for neither."""
    found = [next((name for part, name in table if part in user_agent), "") for table in (BROWSERS, SYSTEMS)]
    return ", ".join(filter(None, found))
