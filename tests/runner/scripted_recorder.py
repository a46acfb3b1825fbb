"""Replaces `stepscope-cli record` for the recordings that Stepscope makes for its own use, and records nothing: it runs
the command, passes an interrupt on, and writes a trace and a report. With FAIL=1, it reports that nothing was recorded.

Usage: scripted_recorder.py record --ops -o TRACE --report REPORT -- COMMAND
"""
import json
import os
import signal
import subprocess
import sys

words = sys.argv[sys.argv.index("--") + 1:]
trace, report = (sys.argv[sys.argv.index(option) + 1] for option in ("-o", "--report"))
if os.environ.get("STEPS"):
    with open(os.environ["STEPSCOPE_FIRST_STEPS"], "w") as file:
        file.write("." * int(os.environ["STEPS"]))
command = subprocess.Popen(words)
received = []


def pass_on(number, _):
    received.append(number)
    command.send_signal(number)


for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, pass_on)
command.wait()
if os.environ.get("FAIL"):
    error = {"id": "record.nothing.used", "parameters": [], "what": "nothing was recorded", "where": "", "hint": ""}
    with open(report, "w") as file:
        json.dump({"schema": 1, "error": error}, file)
    sys.exit(1)
with open(trace, "w") as file:
    json.dump({"command": words, "signals": received, "changes": os.environ.get("STEPSCOPE_CHANGES"),
               "wandb": os.environ.get("WANDB_MODE")}, file)
with open(report, "w") as file:
    json.dump({"schema": 1}, file)
sys.exit(max(command.returncode, 0))
