"""What of an address may stand in a log."""

import logging
import re

BEHIND_A_LINK = re.compile(r"(/(?:join|set-up|new-password)/).+", re.DOTALL | re.IGNORECASE)
LONG = re.compile(r"[\w-]{32,}")
"""Whatever is long enough to be the secret of a link, also of one that was copied badly."""


class WithoutSecrets(logging.Filter):
    """Takes the secrets of links out of what is logged: who reads logs could use them."""

    def filter(self, record):
        try:
            said = record.getMessage()
        except Exception:  # a wrong call; what logging would say of it holds the arguments as they are
            said = f"{record.msg} {record.args}"
        record.msg, record.args = without_secrets(said), None
        if record.exc_info and record.exc_info[0] and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = "\n".join(map(without_secrets, record.exc_text.splitlines()))
        return True


def without_secrets(said):
    """Behind the beginning of a link nothing is left, whatever was put before, around or into its secret."""
    return LONG.sub("...", BEHIND_A_LINK.sub(r"\1.../", said))
