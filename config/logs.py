"""What of an address may stand in a log."""

import logging
import re

SECRET = re.compile(r"(?<=/)[\w-]{32,}")
"""A part of a path that is long enough to be the secret of a link, also of one that was copied badly."""


class WithoutSecrets(logging.Filter):
    """Takes the secrets of links out of what is logged of a request: who reads logs could use them."""

    def filter(self, record):
        if isinstance(record.args, tuple):
            record.args = tuple(SECRET.sub("...", one) if isinstance(one, str) else one for one in record.args)
        return True
