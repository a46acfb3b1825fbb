"""Runs the Python code of every tip on a small training run: python run_snippets.py FOLDER [KEY …]

Each snippet runs in a separate process and in an empty folder. Without a GPU, "cuda" is read as "cpu" and NCCL as Gloo;
a snippet that needs a library that is not installed (torchvision, NumPy) or a GPU (NVTX) is only compiled, with a
message.
"""
import multiprocessing
import os
import pathlib
import re
import sys
import tempfile

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten())
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        return self.head(self.backbone(x))


def surroundings():
    """The names that all snippets need."""
    import torch.distributed as dist
    import torch.nn.functional as functional
    from torch.nn.parallel import DistributedDataParallel
    from torch.utils.data import DataLoader, TensorDataset

    dataset = TensorDataset(torch.rand(64, 3, 8, 8), torch.randint(10, (64,)))
    model, criterion = Net(), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(dataset, batch_size=16)
    images, labels = next(iter(loader))

    def train_step(inputs, targets):
        optimizer.zero_grad()
        value = criterion(model(inputs), targets)
        value.backward()
        optimizer.step()
        return value

    scores = model(images)
    names = {"torch": torch, "nn": nn, "dist": dist, "F": functional, "DataLoader": DataLoader, "os": os,
             "DistributedDataParallel": DistributedDataParallel, "dataset": dataset, "model": model, "criterion": criterion,
             "optimizer": optimizer, "loader": loader, "images": images, "labels": labels, "train_step": train_step, "step": 0,
             "steps": 4, "epochs": 2, "device": "cpu", "scores": scores, "loss": criterion(scores, labels),
             "a": images, "x": torch.rand(2, 5), "b": images, "y": labels, "batch": 2, "length": 5,
             "my_function": lambda v: (v * v).sum()}
    names.update({name: torch.rand(2, 4, 8, 16) for name in "qkv"})
    # The user's own values, under the names that the code uses if a trace does not contain them.
    names.update({"batch_size": 16, "new_batch_size": 32, "num_workers": 2, "prefetch_factor": 2, "lr": 0.1, "momentum": 0.9,
                  "weight_decay": 0.01, "max_lr": 0.1, "max_norm": 1.0, "clip_value": 1.0, "Optimizer": torch.optim.SGD,
                  "settings": {"lr": 0.1}, "mean": [0.5] * 3, "std": [0.25] * 3, "ranks": 2, "save_every": 1000,
                  "collect_every": 1000, "report_every": 100, "channels": 3, "features": 16, "kernel_size": 3, "groups": 4,
                  "vocabulary": 50, "width": 8, "tokens": torch.randint(50, (2, 8))})
    return names


def code_of(path):
    found = re.search(r"```python\n(.*?)```", path.read_text(), re.S)
    return found.group(1) if found else ""


def on_this_machine(key, code, names):
    if key == "tensors.share_memory":
        import numpy

        names["array"] = numpy.zeros((4, 3), numpy.float32)
    if key.startswith("comm."):
        names["x"] = labels = names["labels"]
        names["y"] = labels
        torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    if torch.cuda.is_available():
        return code
    code = code.replace('"cuda"', '"cpu"').replace('"nccl"', '"gloo"').replace("device_ids=[device]", "device_ids=None")
    return code.replace("torch.cuda.set_device(device)", 'device = "cpu"')


def run(key, code):
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ.update({"LOCAL_RANK": "0", "RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"})
        torch.set_num_threads(1)
        names = surroundings()
        if key == "parallel.kind":
            os.environ["MASTER_PORT"] = str(20000 + os.getpid() % 20000)
        if key == "debug.emit_nvtx" and not torch.cuda.is_available():
            compile(code, key, "exec")
            print(f"{key}: compiled only, there is no GPU", flush=True)
            os._exit(0)
        try:
            compile(code, key, "exec")
            exec(compile(on_this_machine(key, code, names), key, "exec"), names)  # noqa: S102: these are our own texts
        except ModuleNotFoundError as missing:
            print(f"{key}: compiled only, {missing.name} is not installed", flush=True)
        os.chdir("/")
    # Threads of process groups may outlive the snippet.
    sys.stdout.flush()
    os._exit(0)


def main():
    folder, wanted = pathlib.Path(sys.argv[1]), sys.argv[2:]
    texts = [path for path in sorted(folder.glob("*.md")) if path.name != "README.md"]  # README.md is the table of all
                                                                                        # tips
    tips = [path for path in texts if not wanted or path.stem in wanted]
    if not tips:
        sys.exit(f"There are no tips in {folder}")
    failed = []
    for path in tips:
        code = code_of(path)
        if not code:
            failed.append(f"{path.stem} has no Python")
            continue
        child = multiprocessing.get_context("fork").Process(target=run, args=(path.stem, code))
        child.start()
        child.join(120)
        if child.exitcode != 0:
            child.kill()
            failed.append(path.stem)
    print(f"{len(tips) - len(failed)} of {len(tips)} run")
    if failed:
        sys.exit("These do not: " + ", ".join(failed))


if __name__ == "__main__":
    main()
