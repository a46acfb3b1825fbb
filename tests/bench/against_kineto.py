"""The overhead of recording a Python training compared with PyTorch's own profiler (Kineto): the same small loop in separate,
alternating processes; ratios of the step times, and the time from the end of recording to a trace on disk. On the CPU.

usage: against_kineto.py STEPSCOPE_CLI [ROUNDS]     default: 8 rounds; under four minutes

    build/release/bin/stepscope-cli must be built; run with a Python that has torch
"""
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

STEPS, WARM = 150, 30
# Recordings of the same data that are compared.
PAIRS = (("record --ops", "Kineto"), ("record --ops --level full", "Kineto, shapes and memory"))
# name, command before Python, profiler that the loop itself uses
MODES = (
    ("plain", None, "plain"),
    ("record", [], "plain"),
    ("record --ops", ["--ops"], "plain"),
    ("record --ops --level full", ["--ops", "--level", "full"], "plain"),
    ("Kineto", None, "kineto"),
    ("Kineto, shapes and memory", None, "kineto_full"),
)


def loop(kind, folder):
    """In a separate process: trains, and prints its timings as JSON."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(1)
    layers = [layer for _ in range(8) for layer in (torch.nn.Linear(64, 64), torch.nn.ReLU())]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(64, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, foreach=False)
    data = torch.utils.data.TensorDataset(torch.randn(16 * STEPS, 64), torch.randint(10, (16 * STEPS,)))

    def train():
        times = []
        began = time.perf_counter()
        for inputs, targets in torch.utils.data.DataLoader(data, batch_size=16):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(inputs), targets).backward()
            optimizer.step()
            ended = time.perf_counter()
            times.append(ended - began)
            began = ended
        return times

    result = {"events": 0, "bytes": 0, "after_s": 0}
    if kind == "plain":
        times = train()
    else:
        full = kind == "kineto_full"
        profiler = torch.profiler.profile(
            activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=full, profile_memory=full
        )
        profiler.start()
        times = train()
        stopped = time.perf_counter()
        profiler.stop()
        path = os.path.join(folder, "kineto.json")
        profiler.export_chrome_trace(path)
        result["after_s"] = time.perf_counter() - stopped
        result["bytes"] = os.path.getsize(path)
        result["events"] = len(profiler.profiler.kineto_results.events())
    result["step_s"] = statistics.median(times[WARM:])
    result["ended"] = time.monotonic()
    with open(os.path.join(folder, "result.json"), "w") as file:
        json.dump(result, file)


def run(cli, options, kind):
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, os.path.abspath(__file__), "--loop", kind, folder]
        trace, report = os.path.join(folder, "t.sstrace"), os.path.join(folder, "report.json")
        if options is not None:
            command = [cli, "record", "-o", trace, "--report", report, *options, "--", *command]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        finished = time.monotonic()
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
        with open(os.path.join(folder, "result.json")) as file:
            result = json.load(file)
        if options is not None:
            with open(report) as file:
                result["events"] = json.load(file)["events"]
            result["bytes"] = os.path.getsize(trace)
            # Includes the exit of Python itself, so it is an upper bound.
            result["after_s"] = finished - result["ended"]
        return result


def t_quantile(count):
    """The two-sided 95 % quantile of Student's t for this many pairs; beyond the table, that of the normal distribution."""
    table = (12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131)
    return table[count - 2] if count - 2 < len(table) else 1.96


def main():
    cli, rounds = sys.argv[1], max(2, int(sys.argv[2]) if len(sys.argv) > 2 else 8)
    results = {name: [] for name, _, _ in MODES}
    for number in range(rounds):
        order = MODES if number % 2 == 0 else MODES[::-1]
        for name, options, kind in order:
            results[name].append(run(cli, options, kind))
    plain = [result["step_s"] for result in results["plain"]]
    print(f"plain: {statistics.median(plain) * 1e6:.0f} µs per step, median of {rounds} processes; ratios are paired by round")
    print(f"{'':28}{'step × plain':>16}{'95 % interval':>18}{'events':>10}{'bytes/event':>13}{'stop to file':>15}")
    for name, options, kind in MODES[1:]:
        logs = [math.log(result["step_s"] / before) for result, before in zip(results[name], plain)]
        mean, spread = statistics.mean(logs), statistics.stdev(logs) / math.sqrt(rounds) * t_quantile(rounds)
        events = statistics.median(result["events"] for result in results[name])
        size = statistics.median(result["bytes"] for result in results[name])
        after = statistics.median(result["after_s"] for result in results[name])
        interval = f"{math.exp(mean - spread):.3f}–{math.exp(mean + spread):.3f}"
        print(
            f"{name:28}{math.exp(mean):16.3f}{interval:>18}{events:10.0f}{size / max(events, 1):13.1f}"
            f"{after / max(events, 1) * 1e6:9.2f} µs/ev"
        )
    for ours, theirs in PAIRS:
        shares = [
            (a["step_s"] - before) / (b["step_s"] - before) for a, b, before in zip(results[ours], results[theirs], plain)
        ]
        low, middle, high = statistics.quantiles(shares, n=4)
        print(f"{ours} adds {middle:.2f} of what {theirs} adds (quartiles {low:.2f}–{high:.2f})")


if __name__ == "__main__":
    loop(sys.argv[2], sys.argv[3]) if sys.argv[1] == "--loop" else main()
