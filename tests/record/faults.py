"""A training with one typical fault. Prints nothing.

usage: faults.py KIND
"""
import sys

import torch
from torch import nn

KIND = sys.argv[1]
torch.manual_seed(0)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.head = nn.LSTMCell(8, 16), nn.Linear(16, 4)

    def forward(self, sequence):
        state = None
        for time in range(sequence.shape[1]):
            state = self.cell(sequence[:, time], state)  # the cell
        return self.head(state[0])


class Deep(nn.Module):
    """Without a fault: the loop applies other weights each time."""

    def __init__(self):
        super().__init__()
        self.layers, self.head = nn.ModuleList(nn.Linear(8, 8) for _ in range(40)), nn.Linear(8, 4)

    def forward(self, samples):
        for layer in self.layers:
            samples = torch.relu(layer(samples))
        return self.head(samples)


def main():
    if KIND == "recurrent":
        model, inputs = Recurrent(), torch.randn(8, 64, 8)
    elif KIND == "deep":
        model, inputs = Deep(), torch.randn(8, 8)
    else:
        model, inputs = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 4)), torch.randn(32, 8)
    if KIND == "double":
        model, inputs = model.double(), inputs.double()  # the type
    labels = torch.randint(4, (len(inputs),))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(60):
        optimizer.zero_grad()
        if KIND == "samples":
            scores = torch.stack([model(sample) for sample in inputs])  # the samples
        else:
            scores = model(inputs)
        nn.functional.cross_entropy(scores, labels).backward()
        optimizer.step()


main()
