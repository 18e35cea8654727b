"""Every real file of traces, read and counted: what `inspect_traces` prints of each folder, and how that fits the counts
of whoever collected the files. A figure that differs from theirs is explained here by name."""

import json
import os
import re

import pytest
from django.core.management import call_command

from tests.annotate.traces.files import SHARED

pytestmark = pytest.mark.shared
DATA = SHARED / "data"

COUNTED = {
