"""Programs that tests run as the arm of an experiment. Usage: turns.py KIND [STEPS]"""
import random
import sys
import time

import torch
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
kind, most = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10**9


class SlowSamples(TensorDataset):
    """A batch of four samples takes 20 ms."""

    def __getitem__(self, index):
        time.sleep(0.005)
        return super().__getitem__(index)


def train(seed=None, scaler=None, gradients=False, validation_batch=8, data_class=TensorDataset, pause=0.02, **settings):
    if seed is not None:
        torch.manual_seed(seed)
        random.seed(seed)
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = TensorDataset(torch.randn(40, 4), torch.randint(2, (40,)))
    loader = DataLoader(data_class(*data.tensors), batch_size=4, shuffle=True, **settings)
    validation = DataLoader(data, batch_size=validation_batch)
    steps = 0
    while True:
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(inputs), targets)
            if scaler:
                scaler.scale(loss).backward()
                scaler.step(optimizer)
                scaler.update()
            else:
                loss.backward()
                optimizer.step()
            steps += 1
            if steps == most:
                return
        model.eval()
        with torch.set_grad_enabled(gradients):
            for inputs, _ in validation:
                model(inputs)
                time.sleep(pause)  # five batches: 100 ms outside of any step
        model.train()


def raises():
    global most
    most = 5
    train()
    raise ValueError("too large a rate")


def without_steps():
    torch.nn.Linear(2, 2)(torch.ones(1, 2))


def marks():
    import stepscope

    assert not stepscope.is_recording()
    while True:
        with stepscope.step():
            time.sleep(0.001)


def own_batches():
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    while True:
        for _ in range(2):  # accumulated
            model(torch.randn(3, 4)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


def exits():
    import os

    global most
    most = 5
    train()
    os._exit(3)


def ranks(validating=None):
    """validating: None, or which ranks run a validation after every ten steps: "all", "first" (the others wait in a
    barrier), "first without barrier" (they wait in their next step)."""
    import torch.distributed as distributed

    distributed.init_process_group("gloo")
    torch.manual_seed(0)
    network = torch.nn.Linear(4, 2)
    model = torch.nn.parallel.DistributedDataParallel(network)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = TensorDataset(torch.randn(400, 4), torch.randint(2, (400,)))
    validation = DataLoader(TensorDataset(*data[:40]), batch_size=8)
    steps = 0
    while True:
        for inputs, targets in DataLoader(data, batch_size=4):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(inputs), targets).backward()
            optimizer.step()
            steps += 1
            if steps == most:
                return
            if validating is None or steps % 10:
                continue
            if validating == "all" or distributed.get_rank() == 0:
                network.eval()
                with torch.no_grad():
                    for samples, _ in validation:
                        network(samples)
                        time.sleep(0.02)  # five batches: 100 ms
                network.train()
            if validating == "first":
                distributed.barrier()


{
    "plain": train,
    "seeded": lambda: train(seed=3),
    "scaled": lambda: train(scaler=torch.amp.GradScaler("cpu", init_scale=1024.0)),
    "with gradients": lambda: train(gradients=True),
    "uneven": lambda: train(validation_batch=16),
    "slow steps": lambda: train(data_class=SlowSamples, pause=0.4),
    "workers": lambda: train(data_class=SlowSamples, pause=0.4, num_workers=1, persistent_workers=True),
    "raises": raises,
    "exits": exits,
    "without steps": without_steps,
    "marks": marks,
    "own batches": own_batches,
    "ranks": ranks,
    "all ranks validate": lambda: ranks("all"),
    "the first rank validates": lambda: ranks("first"),
    "the first rank validates without a barrier": lambda: ranks("first without barrier"),
}[kind]()
