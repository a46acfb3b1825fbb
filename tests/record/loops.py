"""Loops as libraries make them. Prints nothing; each kind is a range of its own.

usage: loops.py KIND
"""
import queue
import sys
import threading

import torch
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = TensorDataset(torch.randn(24, 4), torch.randint(2, (24,)))
loader = DataLoader(data, batch_size=4)  # six batches


def train(batch, with_optimizer=optimizer):
    with_optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(batch[0]), batch[1]).backward()
    with_optimizer.step()


def asks_one_ahead():
    """As accelerate's loaders and Lightning's do."""
    batches = iter(loader)
    batch = next(batches)
    while batch is not None:
        following = next(batches, None)
        train(batch)
        batch = following


def thread_fetches_ahead():
    ready = queue.Queue(2)

    def fetch():
        for batch in loader:
            ready.put(batch)
        ready.put(None)

    thread = threading.Thread(target=fetch)
    thread.start()
    while (batch := ready.get()) is not None:
        train(batch)
    thread.join()


def closure():
    """As Lightning calls an optimizer: forward and backward within its step."""
    for batch in loader:

        def compute():
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(batch[0]), batch[1])
            loss.backward()
            return loss

        optimizer.step(compute)


class Raises(torch.optim.SGD):
    def step(self, closure=None):
        raise RuntimeError("out of memory, say")


def step_raises():
    bad = Raises(model.parameters(), lr=0.1)
    for number, batch in enumerate(loader):
        if number == 2:
            try:
                bad.step()
            except RuntimeError:
                continue
        train(batch)


def two_optimizers():
    """Without a loader, as a GAN may be trained."""
    other = torch.optim.Adam(torch.nn.Linear(4, 2).parameters())
    batch = (data.tensors[0], data.tensors[1])
    for _ in range(6):
        train(batch)
        other.step()


def validation_left_early():
    """A few batches of the validation's loader after each step or two."""
    import stepscope

    validation = DataLoader(data, batch_size=2)
    for number, batch in enumerate(loader):
        train(batch)
        if number % 2 == 1:
            with stepscope.range("validation"):
                for index, (inputs, _) in enumerate(validation):
                    model(inputs)
                    if index >= (number == 3) * 4:  # after one batch, or after five
                        break


def two_loaders_in_turns():
    """As a training on labelled and unlabelled samples does."""
    for number, (batch, _) in enumerate(zip(loader, DataLoader(data, batch_size=4))):
        train(batch)


def left_with_workers():
    """Workers end with the loop that was left, as they do without a recording."""
    import multiprocessing

    for batch in DataLoader(data, batch_size=4, num_workers=2):
        train(batch)
        break
    assert not multiprocessing.active_children()


def kept_batches():
    batches = list(loader)
    for _ in range(2):
        for batch in batches:
            train(batch)


def compiled():
    """Dynamo follows the optimizer's step: what it makes must not hold calls of ours, nor break."""
    step = torch.compile(lambda: optimizer.step(), backend="eager")
    for batch in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(batch[0]), batch[1]).backward()
        step()


def odd_names():
    import stepscope

    for name in ("\udcff", "nul \0 inside", "x" * 200_000, 7, None):
        with stepscope.range(name):
            pass
    stepscope.metadata("name \udcff", "\udcff")
    stepscope.counter("odd \udcff", 1.0)
    for batch in loader:
        train(batch)


{name: value for name, value in globals().items() if callable(value)}[sys.argv[1]]()
