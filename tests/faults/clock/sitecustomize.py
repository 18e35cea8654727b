"""Read by a Python whose path begins here. Under libfaketime the call behind `time.sleep` is refused where the steady
clock is left alone, which it has to be: what waits is not what is told the wrong time."""

import select
import time

time.sleep = lambda seconds: select.select([], [], [], seconds)
