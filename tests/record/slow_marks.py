"""Marked steps of 0.1 s each, in a range that lasts for all of them."""
import time

import stepscope

stepscope.metadata("note", "told before the window")
with stepscope.range("all"):
    for _ in range(50):
        with stepscope.step():
            time.sleep(0.1)
