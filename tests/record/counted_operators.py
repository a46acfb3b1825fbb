"""A training step whose operators PyTorch's own profiler counts while they are recorded. Prints its counts as JSON."""
import collections
import json

import torch

torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
inputs, targets = torch.randn(4, 8), torch.randint(2, (4,))


def work():
    for _ in range(3):
        with torch.profiler.record_function("my own"):
            loss = torch.nn.functional.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


work()
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
    torch.cuda.nvtx.range_push("counted")
    work()
    torch.cuda.nvtx.range_pop()
events = profiler.profiler.kineto_results.events()
operators = collections.Counter(event.name() for event in events if not event.is_user_annotation())
annotations = collections.Counter(event.name() for event in events if event.is_user_annotation())
print(json.dumps({"operators": operators, "annotations": annotations}))
