"""Speaks an arm's part of the protocol (resources/python/stepscope/arm.py) and trains nothing: its steps sleep.

Usage: scripted_program.py [milliseconds=10] [end=N] [fail=N] [exit=N] [hang=N] [steps=no] [torch=no] [workers=N]
       [loss=X] [loss_noise=X] [seed_noise=X] [sums=yes] [write=FILE] [child=yes] [batch=N] [validate=N] [validation_ms=20] [epoch=N] [quiet=yes]
       [terminal=yes] [ranks=N] [validates=first]
       [daemon=yes] [fill=N] [alone=yes] [peers=N]
Options say after how many steps the program ends, fails, exits or hangs. loss_noise is the share by which the loss is
higher with every other seed, and lower with the rest; seed_noise the one by which it is higher with each further seed;
sums multiplies the loss by the batch. It validates after each N steps, an epoch has N steps, and quiet
programs report no progress. With validates=first, the other ranks run no validation.
With peers=N, it starts N - 1 more processes that train by themselves, and begin later.
After `fill` steps it writes a megabyte, and alone=yes fails if the file of `write` contains anything else.
"""
import json
import os
import signal
import socket
import subprocess
import sys
import time

options = dict(word.split("=", 1) for word in sys.argv[1:])
step_seconds = float(options.get("milliseconds", 10)) / 1000
limits = {what: int(options.get(what, 10**9)) for what in ("end", "fail", "exit", "hang", "kill", "leave", "grow", "fill")}
validation_seconds = float(options.get("validation_ms", 20)) / 1000
validate_every, epoch_steps = (int(options.get(what, 10**9)) for what in ("validate", "epoch"))
print("the program starts", flush=True)
if "daemon" in options:
    if os.fork():
        os._exit(0)
    os.setsid()
    if os.fork():
        os._exit(0)
    time.sleep(0.5)  # the first process has ended long before
if "write" in options:
    if "alone" in options and os.path.exists(options["write"]):
        sys.exit("another process has written this file")
    with open(options["write"], "a") as file:
        file.write("written by the program\n")
if "child" in options:
    subprocess.Popen(["sleep", "500"], start_new_session=True)
if "torch" in options:
    sys.exit(0)
if "terminal" in options:
    print("a terminal of", os.get_terminal_size(sys.stdout.fileno()).columns, "columns", flush=True)
if "stdin" in options:
    print("standard input:", repr(sys.stdin.read()), flush=True)
if "port" in options:
    listener = socket.socket()
    try:
        listener.bind(("127.0.0.1", int(options["port"])))
    except OSError as error:
        if "launcher" not in options:
            raise
        sys.exit(f"{error}\n\nof a process that this one has started\n\n")
    listener.listen()
ranks, rank = int(options.get("ranks", 1)), int(os.environ.get("RANK_OF_TEST", 0))
others = []
if rank == 0:
    others = [subprocess.Popen([sys.executable, *sys.argv], env={**os.environ, "RANK_OF_TEST": str(number)})
              for number in range(1, max(ranks, int(options.get("peers", 1))))]
elif "peers" in options:
    time.sleep(0.3)

signal.signal(int(os.environ["STEPSCOPE_ARM_STACK_SIGNAL"]), lambda *_: print("stack of the hang", flush=True))
connection = socket.socket(socket.AF_UNIX)
connection.connect("\0" + os.environ["STEPSCOPE_ARM"])
lines = connection.makefile("r")


def send(**record):
    connection.sendall((json.dumps(record) + "\n").encode())


send(type="started", pid=os.getpid(), python="3", torch="scripted")
if "steps" in options:
    send(type="done", steps=0, turn=None)
    sys.exit(0)
steps = 1
send(
    type="hello", rank=rank, ranks=ranks, pid=os.getpid(), steps=steps, device="cpu", seeded=["torch"],
    loader={"batch_size": int(options.get("batch", 4)), "workers": int(options.get("workers", 0)), "prefetch": 2},
)


def turn_of(what, times):
    seed, batch = int(os.environ.get("STEPSCOPE_ARM_SEED", 0)), int(options.get("batch", 4))
    noise = float(options.get("loss_noise", 0)) * (-1) ** seed + float(options.get("seed_noise", 0)) * seed
    loss = float(options.get("loss", 1.0)) * (1 + noise) * (batch if "sums" in options else 1)
    losses = [loss] * len(times) if what == "steps" else []
    peak = int(options.get("peak", 1)) << 20
    turn = {"type": "turn", "ns": times, "losses": losses, "samples": batch * len(times), "steps": steps,
            "peak_bytes": peak, "peak_of": "process"}
    if steps >= limits["grow"]:
        turn["loader"] = {"batch_size": batch, "workers": 3, "prefetch": 2}
    return turn


def end_if_asked(what, times):
    if steps >= limits["end"]:
        send(type="done", steps=steps, turn=turn_of(what, times) if times else None)
        sys.exit(0)
    if steps >= limits["fail"]:
        send(type="failed", steps=steps, traceback=["Traceback (most recent call last):", "ValueError: no such shape"])
        sys.exit(1)
    if steps >= limits["fill"]:
        with open("checkpoint", "wb") as file:
            file.write(bytes(1 << 20))
    if steps >= limits["exit"]:
        print("last words", flush=True)
        os._exit(7)
    if steps >= limits["kill"]:
        os.kill(os.getpid(), signal.SIGKILL)
    if steps >= limits["leave"]:
        os._exit(0)
    if steps >= limits["hang"]:
        time.sleep(1000)


def timed_sleep(seconds):
    begin = time.monotonic_ns()
    time.sleep(seconds)
    return time.monotonic_ns() - begin


while line := lines.readline():
    turn = json.loads(line)
    what, times, done = turn["what"], [], 0
    epoch_ns = None  # of the current epoch, if it started within the turn
    if "grow" in options:
        print("drop", turn["drop"], flush=True)
    while len(times) < turn["count"] or (what == "validation" and ranks > 1):
        end_if_asked(what, times)
        step_ns = timed_sleep(step_seconds)
        steps += 1
        done += 1
        if "quiet" not in options:
            send(type="progress", steps=steps)
        if what == "steps" and done > turn["drop"]:
            times.append(step_ns)
        if epoch_ns is not None:
            epoch_ns += step_ns
        if steps % validate_every == 0:
            if rank == 0 or options.get("validates") != "first":
                validation_ns = timed_sleep(validation_seconds)
                if what == "validation":
                    times.append(validation_ns)
        if what == "validation" and ranks > 1:
            send(type="left", left=turn["count"] - len(times))
            if json.loads(lines.readline())["type"] == "stop":
                break
        if what == "epoch" and steps % epoch_steps == 0:
            if epoch_ns is not None:
                times.append(epoch_ns)
            epoch_ns = 0
    send(**turn_of(what, times))
