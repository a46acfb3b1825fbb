"""Trains with DistributedDataParallel and Gloo.

ranks_train.py [LATE [EPOCHS [WORKERS]]]: the rank LATE is slower; -1: none is.
"""
import sys
import time

import torch
import torch.distributed as distributed
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
distributed.init_process_group("gloo")
late = len(sys.argv) > 1 and distributed.get_rank() == int(sys.argv[1])
epochs = int(sys.argv[2]) if len(sys.argv) > 2 else 1
workers = int(sys.argv[3]) if len(sys.argv) > 3 else 0
torch.manual_seed(0)
layers = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))
model = DistributedDataParallel(layers)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
samples = TensorDataset(torch.randn(960, 256), torch.randint(0, 10, (960,)))
loader = DataLoader(samples, batch_size=32, num_workers=workers)
for _ in range(epochs):
    for images, labels in loader:
        if late:
            time.sleep(0.03)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
print(f"rank {distributed.get_rank()} has trained {epochs} epochs", flush=True)
distributed.destroy_process_group()
