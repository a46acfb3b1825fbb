"""A small training script in a common style, for what a recording shows about a program and its places. Prints nothing.

usage: vision.py [--workers N] [--batch-size N] [--lr RATE] [--epochs N]
"""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.Conv2d(8, 8, 3, bias=False),
            nn.BatchNorm2d(8),
            nn.ReLU(),
        )
        self.classify = nn.Linear(8, 10)

    def forward(self, images):
        return self.classify(self.features(images).mean((2, 3)))


def validate(model, loader):
    model.eval()
    correct = 0
    for images, targets in loader:
        correct += (model(images).argmax(1) == targets).sum().item()
    model.train()
    return correct


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", "-j", type=int, default=0)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()

    torch.manual_seed(7)
    data = TensorDataset(torch.randn(96, 3, 16, 16), torch.randint(10, (96,)))
    options = {"num_workers": args.workers, "drop_last": True}
    training = DataLoader(
        data,
        batch_size=args.batch_size,  # of each step
        shuffle=True,
        **options,
    )
    validation = DataLoader(data, batch_size=32)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)
    for _ in range(args.epochs):
        for images, targets in training:
            optimizer.zero_grad(set_to_none=False)
            loss = nn.functional.cross_entropy(model(images), targets)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        validate(model, validation)
        schedule.step()


if __name__ == "__main__":
    main()
