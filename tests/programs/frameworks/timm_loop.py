"""A loop of the user's own around timm's models, loaders and optimizers."""
import argparse

import timm
import timm.data
import timm.optim
import timm.scheduler
import torch
from PIL import Image


class Pictures(torch.utils.data.Dataset):
    def __init__(self, count):
        self.count = count
        self.transform = None

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        picture = Image.new("RGB", (48, 48), (index % 256, (7 * index) % 256, 99))
        return self.transform(picture), index % 10


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    torch.manual_seed(2)
    model = timm.create_model("resnet10t", num_classes=10)
    loader = timm.data.create_loader(
        Pictures(256), input_size=(3, 32, 32), batch_size=16, is_training=True, use_prefetcher=False,
        num_workers=args.workers, device=torch.device("cpu"), persistent_workers=args.workers > 0,
    )
    optimizer = timm.optim.create_optimizer_v2(model, opt="adamw", lr=1e-3, weight_decay=0.05)
    scheduler, _ = timm.scheduler.create_scheduler_v2(optimizer, sched="cosine", num_epochs=args.epochs)
    for epoch in range(args.epochs):
        model.train()
        for images, targets in loader:
            loss = torch.nn.functional.cross_entropy(model(images), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        scheduler.step(epoch + 1)
        print(epoch, loss.item())


if __name__ == "__main__":
    main()
