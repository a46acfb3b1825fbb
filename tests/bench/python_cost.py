#!/usr/bin/env python3
"""The overhead of recording a Python program, and the cost of a second resident arm for the first.

Three programs run in pairs, without and with `stepscope-cli record`, in alternating order: a loop whose step takes 10 ms, a
network with two loader workers, and a small transformer. Each prints the median time of its steps and the CPU time per
step, without the first tenth; CPU time is least disturbed by other programs. The table has the geometric mean of the
ratios of the pairs, and a bootstrap interval over the pairs. --busy does the same while another training program uses all
cores. --arms compares the step of two resident arms of an A/A experiment with the step of the program alone.

usage: tests/bench/python_cost.py [--cli build/release/bin/stepscope-cli] [--python PYTHON] [--pairs 6] [--busy] [--arms]
"""
import argparse
import json
import math
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile

_PROGRAM = '''
import sys, time, torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

kind, steps = sys.argv[1], int(sys.argv[2])
threads = int(sys.argv[3]) if len(sys.argv) > 3 else 1
torch.manual_seed(1)
torch.set_num_threads(threads)

def batches():
    if kind == "loop":
        data = TensorDataset(torch.randn(512, 64), torch.randint(0, 10, (512,)))
        return DataLoader(data, batch_size=32, shuffle=True)
    if kind == "pictures":
        data = TensorDataset(torch.randn(512, 3, 32, 32), torch.randint(0, 10, (512,)))
        return DataLoader(data, batch_size=16, shuffle=True, num_workers=2, persistent_workers=True)
    data = TensorDataset(torch.randint(0, 64, (512, 48)), torch.randint(0, 64, (512,)))
    return DataLoader(data, batch_size=8, shuffle=True)

class Last(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
        self.embed, self.body, self.head = nn.Embedding(64, 64), nn.TransformerEncoder(layer, 2), nn.Linear(64, 64)

    def forward(self, tokens):
        return self.head(self.body(self.embed(tokens))[:, -1])

models = {
    "loop": lambda: nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)),
    "pictures": lambda: nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Flatten(),
                                      nn.Linear(16 * 32 * 32, 10)),
    "text": Last,
}
model = models[kind]()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
loader = batches()
times, last, cpu = [], None, 0.0
while len(times) < steps:
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
        if kind == "loop":  # about 10 ms in total: work of the program itself, which hides nothing
            start = time.thread_time()
            while time.thread_time() - start < 0.008:
                pass
        now = time.perf_counter()
        if last is not None:
            times.append(now - last)
            if len(times) == steps // 10:
                cpu = time.process_time()
        last = now
        if len(times) >= steps:
            break
    last = None
cpu = (time.process_time() - cpu) / (len(times) - steps // 10)
times = sorted(times[steps // 10:])
print("STEP", times[len(times) // 2], cpu, sum(times) / len(times), flush=True)
'''
_ALONE = 4  # runs of the program alone, before and after an experiment
_KINDS = ("loop", "pictures", "text")


# How often glibc returns memory to the system between steps differs by chance from run to run, by up to 10 % of the
# CPU time. All programs keep their memory.
_KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(1 << 30), "MALLOC_TOP_PAD_": str(64 << 20), "MALLOC_MMAP_THRESHOLD_": str(32 << 20)}


def step_of(words, cwd, **variables):
    """Median, CPU time of all threads and mean of the steps of a program, in seconds."""
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, env={**os.environ, **_KEEP_MEMORY, **variables})
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith("STEP ")]
    if done.returncode or not lines:
        sys.exit(f"{' '.join(words)} failed:\n{done.stdout}{done.stderr}")
    return tuple(float(word) for word in lines[0][1:4])


def interval(ratios):
    """Geometric mean and the 95 % interval of a bootstrap over pairs."""
    logs = [math.log(ratio) for ratio in ratios]
    generator = random.Random(1)
    means = sorted(statistics.fmean(generator.choices(logs, k=len(logs))) for _ in range(4000))
    return math.exp(statistics.fmean(logs)), math.exp(means[100]), math.exp(means[3899])


def facts_cost(cli, trace):
    """Time to collect the facts in ms, from the metadata of the trace."""
    text = trace.removesuffix(".sstrace") + ".json"
    subprocess.run([cli, "convert", trace, text], check=True, stdout=subprocess.DEVNULL)
    with open(text) as file:
        found = re.search(r'program\.cost_us": "(\d+)"', file.read())
    return int(found[1]) / 1000 if found else math.nan


def pairs_of(options, folder, kind, recording):
    command = [options.python, "program.py", kind, str(options.steps), str(options.threads)]
    record = [options.cli, "record", "-o", "run.sstrace", *recording, "--", *command]
    by_median, by_cpu, plain, recorded = [], [], [], []
    for pair in range(options.pairs):
        order = (command, record) if pair % 2 == 0 else (record, command)
        found = {words[0]: step_of(words, folder) for words in order}
        one, two = found[command[0]], found[record[0]]
        by_median.append(two[0] / one[0])
        by_cpu.append(two[1] / one[1])
        plain.append(one[0])
        recorded.append(two[0])
    return interval(by_median), interval(by_cpu), statistics.median(plain), statistics.median(recorded)


def arms(options, folder, kind):
    """Compares the step of both resident arms with the program alone, for runs of the same length."""
    command = [options.python, "program.py", kind, str(options.steps * 100), str(options.threads)]
    def alone():
        words = [options.python, "program.py", kind, str(options.steps), str(options.threads)]
        return [step_of(words, folder)[2] for _ in range(_ALONE)]

    times = alone()
    done = subprocess.run(
        [options.cli, "experiment", "--budget", str(options.budget), "--json", "--", *command],
        cwd=folder, capture_output=True, text=True,
    )
    step = json.loads(done.stdout)["step_us"]
    mean = statistics.fmean(times + alone())
    return mean, step["a"] / 1e6 / mean, step["b"] / 1e6 / mean


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cli", default="build/release/bin/stepscope-cli")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--threads", type=int, default=1, help="of the program's operators")
    parser.add_argument("--busy", action="store_true", help="run another training on all cores at the same time")
    parser.add_argument("--no-operators", action="store_true", help="omit the rows with operators")
    parser.add_argument("--arms", action="store_true", help="resident arms instead of recordings")
    parser.add_argument("--budget", type=int, default=60, help="seconds of each experiment of --arms")
    parser.add_argument("--only", nargs="*", choices=_KINDS, default=_KINDS)
    options = parser.parse_args()
    options.cli = os.path.abspath(options.cli)
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "program.py"), "w", encoding="utf-8") as file:
            file.write(_PROGRAM)
        other = None
        if options.busy:
            words = [options.python, "program.py", "pictures", "100000000", str(os.cpu_count())]
            other = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            run(options, folder)
        finally:
            if other is not None:
                other.kill()
                other.wait()


def run(options, folder):
    print(f"load average at the start: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    if options.arms:
        print("| program | step alone | arm A / alone | arm B / alone |\n|---|---|---|---|")
        for kind in options.only:
            mean, a, b = arms(options, folder, kind)
            print(f"| {kind} | {1e3 * mean:.3f} ms | {a:.4f} | {b:.4f} |", flush=True)
        return
    print("| program | recording | step plain | step recorded | ratio of medians | ratio of CPU times | facts |\n|---|---|---|---|---|---|---|")
    for kind in options.only:
        for name, words in (("standard", ()), ("with operators", ("--ops",)))[: 1 if options.no_operators else 2]:
            medians, cpu, plain, recorded = pairs_of(options, folder, kind, words)
            cost = facts_cost(options.cli, os.path.join(folder, "run.sstrace"))
            texts = (f"{mean:.4f} [{low:.4f}, {high:.4f}]" for mean, low, high in (medians, cpu))
            print(f"| {kind} | {name} | {1e3 * plain:.3f} ms | {1e3 * recorded:.3f} ms | {' | '.join(texts)} | {cost:.1f} ms |",
                  flush=True)


if __name__ == "__main__":
    main()
