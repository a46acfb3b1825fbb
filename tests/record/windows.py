"""Twelve steps of a training, and a validation after the sixth."""
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = TensorDataset(torch.randn(24, 4), torch.randint(2, (24,)))

for epoch in range(2):
    for inputs, targets in DataLoader(data, batch_size=4):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), targets).backward()
        optimizer.step()
    with torch.no_grad():
        for inputs, _ in DataLoader(data, batch_size=12):
            model(inputs)
