"""A classifier as users of Lightning write it: a module, a data module's loaders and a Trainer."""
import argparse

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Classifier(L.LightningModule):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(),
            nn.Linear(16 * width, 10),
        )

    def training_step(self, batch, _):
        images, labels = batch
        loss = nn.functional.cross_entropy(self.layers(images), labels)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, _):
        images, labels = batch
        self.log("val_loss", nn.functional.cross_entropy(self.layers(images), labels))

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--size", type=int, default=1024)
    args = parser.parse_args()
    L.seed_everything(3)
    data = TensorDataset(torch.randn(args.size, 3, 24, 24), torch.randint(0, 10, (args.size,)))
    train = DataLoader(data, batch_size=32, shuffle=True)
    validation = DataLoader(TensorDataset(*data[:128]), batch_size=64)
    trainer = L.Trainer(
        max_epochs=args.epochs, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
    )
    trainer.fit(Classifier(16), train, validation)


if __name__ == "__main__":
    main()
