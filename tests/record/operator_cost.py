"""The cost of recording LibTorch's operators, for tiny ones: prints microseconds per operator without and with it.

Run it under `stepscope-cli record` with NVTX recording; the two loops alternate, so that machine load affects both
equally.
"""
import statistics
import sys
import time

import torch

torch.set_num_threads(1)
a = torch.randn(4, 4)
OPERATORS = 3


def loop(count=2000):
    began = time.perf_counter()
    for _ in range(count):
        a.add(a).mul(a).relu()
    return (time.perf_counter() - began) / count / OPERATORS * 1e6


from stepscope import operators, tracing

shapes = "shapes" in sys.argv
session = tracing.current()
loop()
off, on = [], []
for _ in range(15):
    off.append(loop())
    switch_off = operators.switch_on(session, torch, shapes)
    on.append(loop())
    switch_off()
print(f"{statistics.median(off):.3f} {statistics.median(on):.3f}")
