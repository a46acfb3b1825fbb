"""A small training script in a common style. It reads its samples slowly, and writes a log and a checkpoint into its
folder.

usage: train.py [--epochs N] [--fail]
"""
import argparse
import time

import torch
from torch.utils.data import DataLoader, Dataset

READ_SECONDS = 0.002


class Slow(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        time.sleep(READ_SECONDS)
        generator = torch.Generator().manual_seed(index)
        return torch.rand(8, generator=generator), index % 2


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=1000)
    parser.add_argument("--fail", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Slow(), batch_size=8, shuffle=True)
    for epoch in range(arguments.epochs):
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(inputs), targets)
            loss.backward()
            optimizer.step()
            if arguments.fail and epoch == 1:
                raise RuntimeError("the second epoch fails")
        with open("log.txt", "a") as log:
            log.write(f"{epoch} {loss.item()}\n")
        torch.save(model.state_dict(), "checkpoint.pt")


if __name__ == "__main__":
    main()
