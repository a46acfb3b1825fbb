"""A classifier of pictures with four mistakes, each marked with the finding that must name its line."""
import argparse
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    """Reading a picture takes its time."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(0.006)
        generator = torch.Generator().manual_seed(index)
        return torch.randn(3, 16, 16, generator=generator), index % 4


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = nn.Conv2d(3, 8, 3, padding=1)  # finding: model.conv_bias
        self.norm = nn.BatchNorm2d(8)
        self.head = nn.Linear(8 * 16 * 16, 4)

    def forward(self, pictures):
        return self.head(torch.relu(self.norm(self.convolution(pictures))).flatten(1))


def validate(model, loader):
    model.eval()
    right = 0
    for pictures, labels in loader:
        right += int((model(pictures).argmax(1) == labels).sum())  # finding: eval.no_grad
    model.train()
    return right


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    torch.autograd.set_detect_anomaly(True)  # finding: debug.anomaly
    loader = DataLoader(Pictures(320), batch_size=16, shuffle=True)  # finding: loader.workers
    validation = DataLoader(Pictures(32), batch_size=16)
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-4)
    for epoch in range(args.epochs):
        for pictures, labels in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(pictures), labels)
            loss.backward()
            optimizer.step()
        print(epoch, validate(model, validation))


if __name__ == "__main__":
    main()
