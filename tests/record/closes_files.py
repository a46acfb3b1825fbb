"""A program that closes every open file, as daemons do, and opens its own.

usage: closes_files.py FILE
"""
import os
import sys
import time

import stepscope

with stepscope.range("before"):
    pass
os.closerange(3, 4096)
own = [os.open(sys.argv[1] + str(number), os.O_CREAT | os.O_RDWR, 0o600) for number in range(8)]
for _ in range(4):  # the writer thread runs during this time
    with stepscope.range("after"):
        time.sleep(0.06)
os.chdir("/")
for file in own:
    os.write(file, b"mine")
