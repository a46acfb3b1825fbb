"""Trains, and writes its loss to event files: with TensorBoard's writer, or with one that treats files in the same way.

It exits with a message if a folder of event files holds one that is neither the program's own nor the user's, or if its
own file does not hold what it has written.

usage: events.py [--writer tensorboard|stand-in] FOLDER …
"""
import argparse
import os
import queue
import socket
import struct
import sys
import threading
import time
import zlib

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SECONDS = 0.012


class StandIn:
    """A file named after the second and the machine, with records that a thread appends. TensorBoard adds the number of
    the process to the name: two processes that start in the same second collide here and not there."""

    def __init__(self, folder):
        os.makedirs(folder, exist_ok=True)
        self._path = os.path.join(folder, f"events.out.tfevents.{int(time.time()) // 1000:010d}.{socket.gethostname()}")
        self._file = open(self._path, "wb")
        self._records = queue.Queue(10)
        threading.Thread(target=self._append, daemon=True).start()

    def add_scalar(self, tag, value, step):
        self._records.put(struct.pack("<qd", step, value) + tag.encode())

    def flush(self):
        self._records.join()
        self._file.flush()

    def _append(self):
        while True:
            record = self._records.get()
            self._file.write(struct.pack("<QI", len(record), zlib.crc32(record)) + record + struct.pack("<I", 0))
            self._records.task_done()


def records_in(path):
    """The number of records: each has a length, a checksum, its bytes, and another checksum."""
    count = 0
    with open(path, "rb") as file:
        while header := file.read(12):
            length = struct.unpack("<QI", header)[0]
            if len(file.read(length + 4)) != length + 4:
                sys.exit(f"{path} ends within a record")
            count += 1
    return count


class Events:
    """A writer in a folder, and what it must have written."""

    def __init__(self, make, folder):
        self._folder = folder
        self._users = set(self._files())
        self._writer = make(folder)
        self._writer.flush()
        own = set(self._files()) - self._users
        if len(own) != 1:
            sys.exit(f"{folder} holds {len(own)} new files instead of one")
        self._own = own.pop()
        self._count = records_in(os.path.join(folder, self._own))

    def _files(self):
        return os.listdir(self._folder) if os.path.isdir(self._folder) else []

    def write(self, loss, step):
        self._writer.add_scalar("loss", loss, step)
        self._count += 1

    def check(self):
        self._writer.flush()
        if others := set(self._files()) - self._users - {self._own}:
            sys.exit(f"another process has written {others} to {self._folder}")
        count = records_in(os.path.join(self._folder, self._own))
        if count != self._count:
            sys.exit(f"{self._own} holds {count} records instead of {self._count}")


def writer_of(name):
    if name == "stand-in":
        return StandIn
    from torch.utils.tensorboard import SummaryWriter

    return SummaryWriter


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--writer", choices=("tensorboard", "stand-in"), default="stand-in")
    parser.add_argument("folders", nargs="+")
    args = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = nn.Linear(16, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    loader = DataLoader(TensorDataset(torch.randn(160, 16), torch.randint(0, 4, (160,))), batch_size=16, shuffle=True)
    events = [Events(writer_of(args.writer), folder) for folder in args.folders]
    step = 0
    for _ in range(1000):
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(inputs), targets)
            loss.backward()
            time.sleep(SECONDS)
            optimizer.step()
            step += 1
            for each in events:
                each.write(loss.item(), step)
        for each in events:
            each.check()


if __name__ == "__main__":
    main()
