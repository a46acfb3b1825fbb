"""A program that marks its steps itself, and has its own sitecustomize."""
import os

import stepscope

import sitecustomize

print("the user's" if getattr(sitecustomize, "MINE", False) else "another", stepscope.is_recording())
for index in range(3):
    with stepscope.step(), stepscope.range("work", index):
        pass
stepscope.counter("loss", 0.25)
stepscope.metadata("note", "marked")
if os.environ.get("FORK") and os.fork() == 0:
    with stepscope.range("child"):
        pass
    os._exit(0)
