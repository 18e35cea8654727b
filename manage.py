#!/usr/bin/env python
"""Django's commands and ours; `./run manage` calls this inside the project's environment."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.umask(0o077)  # what commands write into the data folder is for this account alone
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    execute_from_command_line(sys.argv)
