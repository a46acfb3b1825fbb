"""A program of the user's for part g of the GPU kit: a plain loop, as people write it first, around a ResNet or a model like
GPT. Its settings are the slow ones, so that each change has something to improve.

usage: program.py resnet|gpt [--steps N] [--device cuda] [--kineto]
"""
import argparse
import contextlib

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __len__(self):
        return 100000

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        return torch.randn(3, 64, 64, generator=generator), index % 10


class Text(Dataset):
    def __len__(self):
        return 100000

    def __getitem__(self, index):
        tokens = torch.randint(0, 512, (257,), generator=torch.Generator().manual_seed(index))
        return tokens[:-1], tokens[1:]


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels),
        )

    def forward(self, x):
        return torch.relu(x + self.layers(x))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 64, 3, padding=1)
        self.blocks = nn.Sequential(Block(64), nn.AvgPool2d(2), Block(64), nn.AvgPool2d(2), Block(64), Block(64))
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(256, 8, 1024, batch_first=True, norm_first=True)
        self.embed, self.body = nn.Embedding(512, 256), nn.TransformerEncoder(layer, 6)
        self.head = nn.Linear(256, 512)

    def forward(self, tokens):
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1], device=tokens.device)
        return self.head(self.body(self.embed(tokens), mask=mask, is_causal=True)).transpose(1, 2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=("resnet", "gpt"))
    parser.add_argument("--steps", type=int, default=100000)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--kineto", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(1)
    data = Pictures() if args.model == "resnet" else Text()
    loader = DataLoader(data, batch_size=32, shuffle=True)
    model = (ResNet() if args.model == "resnet" else Gpt()).to(args.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=False)
    profiler = torch.profiler.profile() if args.kineto else contextlib.nullcontext()
    total, done = 0.0, 0
    with profiler:
        for inputs, targets in loader:
            inputs = inputs.to(args.device)
            targets = targets.to(args.device)
            optimizer.zero_grad(set_to_none=False)
            loss = nn.functional.cross_entropy(model(inputs), targets)
            loss.backward()
            optimizer.step()
            total += loss.item()
            done += 1
            if done >= args.steps:
                break
    print(total / done)


if __name__ == "__main__":
    main()
