"""A training run that measures its own times and is unaware of Stepscope. Prints its timers as JSON.

usage: train.py WORKERS [accumulate]
"""
import json
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

workers = int(sys.argv[1])
batches_a_step = 2 if "accumulate" in sys.argv else 1


class Slow(Dataset):
    def __len__(self):
        return 96

    def __getitem__(self, index):
        time.sleep(0.004)
        return torch.randn(8), index % 2


torch.set_num_threads(1)
model = torch.nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
training = DataLoader(Slow(), batch_size=8, num_workers=workers)
validation = DataLoader(Slow(), batch_size=48)
clock = time.perf_counter_ns
waits, steps, ranges, optimizing = [], [], [], []

for epoch in range(2):
    batches = iter(training)
    began, taken = None, 0
    while True:
        asked = clock()
        if began is not None and taken == batches_a_step:
            steps.append(asked - began)
            began, taken = None, 0
        if began is None:
            began = asked
        try:
            inputs, targets = next(batches)
        except StopIteration:
            break
        waits.append(clock() - asked)
        taken += 1
        pushed = clock()
        torch.cuda.nvtx.range_push("compute")
        torch.nn.functional.cross_entropy(model(inputs), targets).backward()
        time.sleep(0.01)
        torch.cuda.nvtx.range_pop()
        ranges.append(clock() - pushed)
        if taken == batches_a_step:
            before = clock()
            optimizer.step()
            optimizer.zero_grad()
            optimizing.append(clock() - before)
    with torch.no_grad():
        for inputs, _ in validation:
            model(inputs)

print(json.dumps({"waits": waits, "steps": steps, "ranges": ranges, "optimizing": optimizing}))
