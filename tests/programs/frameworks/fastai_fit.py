"""A Learner of fastai on pictures that are made when they are asked for."""
import argparse

import torch
import fastai.callback.progress  # noqa: F401 (gives Learner no_bar)
from fastai.data.core import DataLoaders
from fastai.learner import Learner
from fastai.metrics import accuracy
from torch import nn


class Pictures:
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        return torch.randn(3, 24, 24, generator=generator), index % 10


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--size", type=int, default=1024)
    args = parser.parse_args()
    loaders = DataLoaders.from_dsets(Pictures(args.size), Pictures(64), bs=32, num_workers=0, device=torch.device("cpu"))
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(),
        nn.Linear(256, 10),
    )
    learner = Learner(loaders, model, loss_func=nn.CrossEntropyLoss(), metrics=accuracy)
    with learner.no_bar():
        learner.fit(args.epochs, 1e-3)


if __name__ == "__main__":
    main()
