"""A language model with mistakes, each marked with the finding that must name its line; its options reach its loader."""
import argparse
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

WIDTH, HEADS = 64, 4


class Text(Dataset):
    def __init__(self, length):
        self.length = length
        self.letters = torch.randint(0, 64, (20000,), generator=torch.Generator().manual_seed(2))

    def __len__(self):
        return 640

    def __getitem__(self, index):
        start = 31 * index
        return self.letters[start : start + self.length], self.letters[start + 1 : start + self.length + 1]


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = (part.view(batch, length, HEADS, -1).transpose(1, 2) for part in self.project(x).split(WIDTH, 2))
        weights = q @ k.transpose(-2, -1) / math.sqrt(WIDTH // HEADS)
        weights = weights.masked_fill(torch.ones(length, length, dtype=torch.bool).triu(1), float("-inf"))
        mixed = torch.softmax(weights, dim=-1) @ v  # finding: attention
        return self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))


class Model(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.embed = nn.Embedding(64, WIDTH)
        self.layers = nn.ModuleList(Attention() for _ in range(layers))
        self.head = nn.Linear(WIDTH, 64)

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = x + layer(x)
        return self.head(x)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=1)
    args = parser.parse_args()
    torch.manual_seed(4)
    torch.set_num_threads(1)
    loader = DataLoader(Text(48), batch_size=args.batch_size, shuffle=True, num_workers=args.workers)
    model = Model(2)  # finding: work.unused
    trained = [*model.layers.parameters(), *model.head.parameters()]
    optimizer = torch.optim.AdamW(trained, lr=1e-3, foreach=False)  # finding: optimizer.fused
    for _ in range(args.epochs):
        total = 0.0
        for inputs, targets in loader:
            logits = model(inputs)
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
            optimizer.zero_grad(set_to_none=False)  # finding: zero_grad.set_to_none
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(total / len(loader))


if __name__ == "__main__":
    main()
