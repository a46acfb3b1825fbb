"""Runs the commands of the book, page by page, as a reader who follows it does.

usage: book_commands.py BIN_FOLDER WRITE_JOB_TRACES SOURCE_FOLDER PYTHON_WITH_TORCH [PAGE]...

Each page begins in a new folder that contains what its commands name: a program, traces, jobs, a copy of the resources.
Its commands run in their order, and each must end with status 0, or with the status that ALLOWED names. What would take
an hour is shortened (SHORTER); other machines are containers and hosts whose programs (`docker`, `ssh` …) run the
command here. A command that this test cannot prepare for is a failure: the book is then to be changed, or the test.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BIN, JOB_TRACES, SOURCE, PYTHON = (Path(argument) for argument in sys.argv[1:5])

SHORTER = [
    (r"--budget 600", "--budget 40"),
    (r"--nproc-per-node 8", "--nproc-per-node 2"),
    (r"--ranks 0,7,64-71", "--ranks 0,1"),
    (r"--after 60 --for 10", "--after 1 --for 1"),
    (r"--steps 100-119", "--steps 20-29"),
]
# diff --fail-if-slower: 0, not slower; 1, slower. Both are right answers for two runs of the same program.
ALLOWED = {r"diff .*--fail-if-slower": (0, 1)}
UNTIL_INTERRUPTED = r"^watch "

TRAIN = '''
import argparse
import os
import time

import torch
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("--max-steps", type=int, default=1000)
parser.add_argument("--workers", type=int, default=0)
parser.add_argument("--lr", type=float, default=0.1)
arguments = parser.parse_args()


class Images(Dataset):
    def __len__(self):
        return 480

    def __getitem__(self, index):
        time.sleep(0.001)
        return torch.randn(64), index % 2


torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 2))
if "RANK" in os.environ:
    torch.distributed.init_process_group("gloo")
    model = torch.nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=arguments.lr)
if arguments.workers:
    loader = DataLoader(Images(), batch_size=8, num_workers=arguments.workers)
else:
    loader = DataLoader(Images(), batch_size=8)
step = 0
for epoch in range(arguments.epochs):
    for images, labels in loader:
        if step == arguments.max_steps:
            break
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        step += 1
print(f"{step} steps, loss {loss.item():.3f}")
'''

CHANGE = '''--- a/train.py
+++ b/train.py
@@ -36 +36 @@
-    loader = DataLoader(Images(), batch_size=8)
+    loader = DataLoader(Images(), batch_size=8, num_workers=2)
'''

HERE = '''#!/bin/sh
# {name}: the other machine is this one
{run}
'''
MACHINES = {
    "docker": 'shift 3; exec "$@"',  # exec -i NAME
    "kubectl": 'shift 4; exec "$@"',  # exec -i NAME --
    "srun": 'shift 3; exec "$@"',  # --jobid NUMBER --overlap
    # options with and without a value, then the host; the words of the command are one text for a shell in the home
    "ssh": 'while :; do case "$1" in -[oFpliJSW]) shift 2 ;; -*) shift ;; *) shift; break ;; esac; done\n'
           '[ "$1" = -- ] && shift\ncd "$HOME" && exec sh -c "$*"',
}


def blocks(page):
    """The commands in the code blocks of a page, in order, with their lines."""
    code = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("```"):
            code = line.startswith("```") and not code
        elif code and line.startswith("stepscope-cli "):
            yield number, re.sub(r"\s+#.*$", "", line)


class Folder:
    """What a reader has: a program under version control, and traces."""

    def __init__(self, place):
        self.path = place / "work"
        self.path.mkdir()
        (self.path / "train.py").write_text(TRAIN.lstrip())
        (self.path / "change.diff").write_text(CHANGE)
        (place / "base").mkdir()
        shutil.copy(self.path / "train.py", place / "base")
        (place / "bin").mkdir()
        for name, run in MACHINES.items():
            program = place / "bin" / name
            program.write_text(HERE.format(name=name, run=run))
            program.chmod(0o755)
        home = place / "home"
        (home / "work").mkdir(parents=True)
        shutil.copytree(self.path, home / "work" / "model")
        shutil.copy(self.path / "train.py", home)
        for folder in (home, home / "work/model"):  # traces that stay on the other machine
            shutil.copy(SOURCE / "resources/samples/loader_stall.sstrace", folder / "run.sstrace")
        self.environment = dict(
            os.environ, HOME=str(home), PATH=f"{place / 'bin'}:{BIN}:{PYTHON.parent}:{os.environ['PATH']}",
            XDG_CACHE_HOME=str(home / "cache"), TORCHELASTIC_ERROR_FILE="", OMP_NUM_THREADS="1")
        for arguments in (["init", "-q"], ["config", "user.name", "Reader"],
                          ["config", "user.email", "reader@example.org"], ["add", "train.py"],
                          ["commit", "-q", "-m", "Train"]):
            subprocess.run(["git"] + arguments, cwd=self.path, check=True)

    def prepare(self, line):
        """Makes the inputs that a command names and no earlier command has made."""
        for name in re.findall(r"(?<!-o )\b(\w+\.json\.gz)", line):
            if not (self.path / name).exists():
                sample = "well_fed" if name == "after.json.gz" else "loader_stall"
                self.run(["stepscope-cli", "convert", str(SOURCE / f"resources/samples/{sample}.sstrace"), name[:-3]])
                subprocess.run(["gzip", name[:-3]], cwd=self.path, check=True)
        outputs = re.search(r"-o (\S+)", line)
        outputs = outputs.group(1).rstrip("/") if outputs else None
        for name in re.findall(r"(?<![\w/.])(\w+\.sstrace)", line):
            if not (self.path / name).exists() and name != outputs and " convert " not in line:
                self.run(["stepscope-cli", "record", "-o", name, "--", "python", "train.py", "--epochs", "1"])
        for name, ranks in re.findall(r"(?<![\w/.])((?:traces|before|after|ranks(\d)))/", line):
            if not (self.path / name).exists() and name != outputs:
                subprocess.run([JOB_TRACES, name, ranks or "4", "12", "4", "2"], cwd=self.path, check=True)
        if "memory.pickle" in line and not (self.path / "memory.pickle").exists():
            subprocess.run([PYTHON, "-c", SNAPSHOT], cwd=self.path, check=True)
        if "resources/" in line and not (self.path / "resources").exists():
            shutil.copytree(SOURCE / "resources", self.path / "resources")
        if "./train" in line and not (self.path / "train").exists():
            (self.path / "train").write_text("#!/bin/sh\nexec python train.py\n")
            (self.path / "train").chmod(0o755)

    def run(self, command, **options):
        return subprocess.run(command, cwd=self.path, env=self.environment, check=True, stdout=subprocess.DEVNULL,
                              **options)


# What torch.cuda.memory._snapshot() returns, for one block of one allocation; a program without a GPU cannot take one.
SNAPSHOT = '''
import pickle
frames = [{"name": "forward", "filename": "model.py", "line": 5}]
block = {"size": 4 << 20, "requested_size": 4 << 20, "address": 1 << 30, "state": "active_allocated", "frames": frames}
segment = {"device": 0, "address": 1 << 30, "total_size": 20 << 20, "allocated_size": 4 << 20, "active_size": 4 << 20,
           "requested_size": 4 << 20, "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0),
           "is_expandable": False, "frames": frames, "blocks": [block]}
event = {"action": "alloc", "addr": 1 << 30, "size": 4 << 20, "stream": 0, "time_us": 1, "frames": frames}
pickle.dump({"segments": [segment], "device_traces": [[event]]}, open("memory.pickle", "wb"))
'''


def follow(page):
    """Runs the commands of a page. Returns what failed, as texts."""
    failures = []
    with tempfile.TemporaryDirectory(prefix="book-") as place:
        folder = Folder(Path(place))
        for number, line in blocks(page):
            where = f"{page.name}:{number}: {line}"
            for pattern, instead in SHORTER:
                line = re.sub(pattern, instead, line)
            began = time.monotonic()
            try:
                folder.prepare(line)
            except subprocess.CalledProcessError as failed:
                failures.append(f"{where}\n  cannot be prepared: {failed}")
                print(failures[-1], flush=True)
                continue
            arguments = line[len("stepscope-cli "):]
            process = subprocess.Popen(["sh", "-c", "exec " + line], cwd=folder.path, env=folder.environment,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                       text=True, start_new_session=True)
            try:
                if re.search(UNTIL_INTERRUPTED, arguments):
                    time.sleep(3)
                    process.send_signal(signal.SIGINT)
                output, _ = process.communicate(timeout=300)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                output = process.communicate()[0] + "\n(still running after 300 s)"
            allowed = next((codes for pattern, codes in ALLOWED.items() if re.search(pattern, arguments)), (0,))
            status = process.returncode
            print(f"{status:4} {time.monotonic() - began:6.1f} s  {where}", flush=True)
            if status not in allowed or not output.strip():
                said = "\n".join("  " + text for text in output.splitlines()[-25:])
                failures.append(f"{where}\n  status {status}\n{said}")
                print(failures[-1], flush=True)
    return failures


def main():
    pages = [SOURCE / "resources/docs" / name for name in sys.argv[5:]] or sorted(
        page for page in (SOURCE / "resources/docs").glob("*.md") if any(blocks(page)))
    failures = [failure for page in pages for failure in follow(page)]
    print(f"{len(failures)} failures")
    return 1 if failures or not pages else 0


sys.exit(main())
