"""Lines that allocate known amounts, while PyTorch's own profiler counts memory and a loader worker makes batches.
Prints, as JSON, the number of rounds and what the profiler counted."""
import json
import time

import torch
from torch.utils.data import DataLoader

ROUNDS = 12
torch.set_num_threads(1)
weights = torch.zeros(1000, requires_grad=True)
optimizer = torch.optim.SGD([weights], lr=0.1)
loader = DataLoader(torch.ones(ROUNDS * 2, 1000), batch_size=2, num_workers=1)


def round_of(batch):
    optimizer.zero_grad()
    parts = [torch.empty(1_000_000, dtype=torch.uint8) for _ in range(3)]  # three megabytes
    large = (torch.empty(5_000_000, dtype=torch.uint8), time.sleep(0.08))  # five megabytes, then work
    small = (torch.empty(500_000, dtype=torch.uint8), time.sleep(0.08))  # half a megabyte, then work
    parts[0].untyped_storage().resize_(2_500_000)  # outside of any operator
    (weights * batch).sum().backward()
    optimizer.step()
    return parts, large, small


(weights * 1).sum().backward()
optimizer.step()
counted = 0
for number, batch in enumerate(loader):
    if number == ROUNDS // 2:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profiler:
            round_of(batch)
        counted = sum(max(0, event.self_cpu_memory_usage) for event in profiler.key_averages())
    else:
        round_of(batch)
print(json.dumps({"rounds": ROUNDS, "counted": counted}))
