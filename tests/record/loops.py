"""Training loops in the style of libraries. Prints nothing; each kind is in a separate range.

usage: loops.py KIND
"""
import os
import queue
import sys
import tempfile
import threading
import time

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
    """Like the loaders of accelerate and Lightning."""
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
    """Like Lightning calls an optimizer: forward and backward within its step."""
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
    """Without a loader, like some GANs."""
    other = torch.optim.Adam(torch.nn.Linear(4, 2).parameters())
    batch = (data.tensors[0], data.tensors[1])
    for _ in range(6):
        train(batch)
        other.step()


class Adversaries:
    """A discriminator and a generator, each with its own optimizer."""

    def __init__(self):
        self.discriminator, self.generator = torch.nn.Linear(4, 1), torch.nn.Linear(3, 4)
        self.of_discriminator = torch.optim.Adam(self.discriminator.parameters())
        self.of_generator = torch.optim.Adam(self.generator.parameters())

    def train_discriminator(self, real):
        with torch.no_grad():
            fake = self.generator(torch.randn(len(real), 3))
        self.of_discriminator.zero_grad()
        (self.discriminator(fake).mean() - self.discriminator(real).mean()).backward()
        self.of_discriminator.step()

    def train_generator(self):
        self.of_generator.zero_grad()
        (-self.discriminator(self.generator(torch.randn(4, 3))).mean()).backward()
        self.of_generator.step()


def gan():
    both = Adversaries()
    for inputs, _ in loader:
        both.train_discriminator(inputs)
        both.train_generator()


def gan_without_loader():
    both = Adversaries()
    for _ in range(6):
        both.train_discriminator(data.tensors[0])
        both.train_generator()


def critic():
    """Five batches for the critic, then one step of the generator as well."""
    both = Adversaries()
    for number in range(30):
        both.train_discriminator(data.tensors[0])
        if number % 5 == 4:
            both.train_generator()


def critic_with_loader():
    both = Adversaries()
    for number, (inputs, _) in enumerate(DataLoader(data, batch_size=1)):  # 24 batches
        both.train_discriminator(inputs)
        if number % 3 == 2:
            both.train_generator()


def models_in_turn():
    """Two models, trained one after the other; both optimizers are created first."""
    trained = [torch.nn.Linear(4, 2), torch.nn.Linear(4, 2)]
    optimizers = [torch.optim.SGD(each.parameters(), lr=0.1) for each in trained]
    for one, its_optimizer in zip(trained, optimizers):
        for inputs, targets in loader:
            its_optimizer.zero_grad()
            torch.nn.functional.cross_entropy(one(inputs), targets).backward()
            its_optimizer.step()


def scaler_skips():
    """A GradScaler skips the third of six steps: its gradients are not finite."""
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    for number, (inputs, targets) in enumerate(loader):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(inputs), targets)
        scaler.scale(loss * (float("inf") if number == 2 else 1.0)).backward()
        scaler.step(optimizer)
        scaler.update()


def accumulation_without_loader():
    for _ in range(5):
        optimizer.zero_grad()
        for part in range(3):
            torch.nn.functional.cross_entropy(model(data.tensors[0]), data.tensors[1]).backward()
        optimizer.step()


def evaluation_without_loader():
    """Every third step begins with an evaluation and a checkpoint, each of which takes longer than the step."""
    path = os.path.join(tempfile.gettempdir(), f"stepscope-loops-{os.getpid()}.pt")
    for number in range(9):
        if number % 3 == 0:
            model.eval()
            with torch.no_grad():
                for _ in range(3):
                    model(data.tensors[0])
                    time.sleep(0.05)
                model(data.tensors[0])
            model.train()
            torch.save(Slow(), path)
        train(data.tensors)
    os.remove(path)


def generation_after_batches():
    """Samples are drawn after every second batch, from the trained model in evaluation mode."""
    for number, batch in enumerate(loader):
        train(batch)
        if number % 2 == 1:
            model.eval()
            with torch.no_grad():
                for _ in range(3):
                    model(batch[0])
                    time.sleep(0.05)
            model.train()


class Slow:
    """Takes long to save."""

    def __getstate__(self):
        time.sleep(0.1)
        return {}


def frozen_norms():
    """Fine-tuning in evaluation mode."""
    model.eval()
    for batch in loader:
        train(batch)


def no_optimizer():
    model.eval()
    with torch.no_grad():
        for inputs, _ in loader:
            model(inputs)


def validation_left_early():
    """A few batches of the validation loader after every one or two steps."""
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


def average_is_validated():
    """The average of the model is never trained; in the second epoch, it is a teacher as well."""
    import copy

    average = copy.deepcopy(model)
    for epoch in range(3):
        for batch in loader:
            if epoch == 1:
                average(batch[0])
            train(batch)
        for batch in DataLoader(data, batch_size=12):
            average(batch[0])
            time.sleep(0.06)


def two_loaders_in_turns():
    """Like training on labelled and unlabelled samples."""
    for number, (batch, _) in enumerate(zip(loader, DataLoader(data, batch_size=4))):
        train(batch)


def left_with_workers():
    """Workers exit when the loop is left, as they do without a recording."""
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


def one_batch(steps=40):
    batch = next(iter(loader))
    for _ in range(steps):
        train(batch)


def one_batch_a_few_times():
    one_batch(5)


def several_steps_on_each_batch():
    for batch in loader:
        for _ in range(5):
            train(batch)


def compiled():
    """Dynamo traces the optimizer's step: its result must not contain our calls, and must not break."""
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
