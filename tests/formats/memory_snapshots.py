"""memory_snapshots.py FOLDER: writes pickles for memory_snapshot_test.cpp.

The dictionaries have the layout that torch.cuda.memory._snapshot() documents (torch/cuda/memory.py and
torch/cuda/_memory_viz.py of PyTorch 2.11).
"""
import os
import pickle
import sys

folder = sys.argv[1]
MIB = 1 << 20


def frames(*lines):
    found = [{"filename": "torch/csrc/Memory.cpp", "line": 9, "name": "record"},
             {"filename": "/venv/torch/nn/functional.py", "line": 20, "name": "linear"}]
    return found + [{"filename": "/home/me/train.py", "line": line, "name": "main"} for line in lines]


shared = frames(41, 7)  # one list in several events, as PyTorch shares stacks


def event(action, addr, size, time_us, stack=None):
    return {"action": action, "addr": addr, "size": size, "stream": 0, "time_us": time_us,
            "frames": shared if stack is None else stack}


def snapshot(version=4):
    base = 0x7F0000000000
    events = [
        event("segment_alloc", base, 20 * MIB, 1_000_000),
        event("alloc", base, 4 * MIB, 1_000_010),
        event("alloc", base + 4 * MIB, 8 * MIB, 1_000_020, frames(52)),
        event("free_requested", base, 4 * MIB, 1_000_030),
        event("free_completed", base, 4 * MIB, 1_000_031),
        event("oom", 0, 999 * MIB, 1_000_040),
        event("alloc", base, 2 * MIB, 1_000_050),
    ]
    blocks = [{"address": base, "size": 2 * MIB, "state": "active_allocated", "frames": shared},
              {"address": base + 2 * MIB, "size": 2 * MIB, "state": "inactive"},
              {"address": base + 4 * MIB, "size": 8 * MIB, "state": "active_allocated", "frames": frames(52)},
              # Allocated before the history: 1 MiB.
              {"address": base + 12 * MIB, "size": MIB, "state": "active_allocated", "frames": frames(3)},
              {"address": base + 13 * MIB, "size": 7 * MIB, "state": "inactive"}]
    segments = [{"device": 0, "address": base, "total_size": 20 * MIB, "allocated_size": 11 * MIB, "stream": 0,
                 "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False, "blocks": blocks}]
    return {"segments": segments, "device_traces": [events, []],
            "allocator_settings": {"max_split_size": -1, "garbage_collection_threshold": 0.0, "expandable": False},
            "external_annotations": [{"stage": "start", "name": b"x" if version > 2 else "x", "bits": 1 << 70, "none": None}]}


def step(steps=2):
    """A training with Adam and expandable segments, recorded with Python and C++ frames."""
    def python(file, line, name):
        return {"filename": file, "line": line, "name": name}

    def native(name):
        return {"filename": "??", "line": 0, "name": name}

    main = python("/home/me/train.py", 30, "main")
    module = "/venv/torch/nn/modules/module.py"
    move = [native("at::native::empty_cuda"), python(module, 1, "convert"), python(module, 2, "_apply"),
            python("/home/me/train.py", 12, "main")]
    batch = [native("at::native::empty_cuda"), python("/home/me/train.py", 20, "main")]

    def forward(line):
        return [native("at::native::addmm"), python("/venv/torch/nn/functional.py", line, "linear"),
                python("/venv/torch/nn/modules/linear.py", 3, "forward"), python(module, 7, "_call_impl"),
                python("/home/me/model.py", line, "forward"), python(module, 7, "_call_impl"), main]

    backward = [native("at::native::mm"), native("torch::autograd::Engine::evaluate_function(std::shared_ptr<torch::"
                                                 "autograd::GraphTask>&)")]
    zero = [python("/venv/torch/optim/optimizer.py", 9, "zero_grad"), main]
    adam = [native("at::native::zeros_like"), python("/venv/torch/optim/adam.py", 100, "_init_group"),
            python("/venv/torch/optim/optimizer.py", 50, "step"), main]
    base, events = 0x600000000, [event("segment_map", 0x600000000, 40 * MIB, 1, batch)]

    def add(action, place, size, stack):
        events.append(event(action, base + place * MIB, size * MIB, len(events) * 10 + 1, stack))

    add("alloc", 0, 4, move)
    for number in range(steps):
        add("alloc", 4, 2, batch)
        add("alloc", 6, 3, forward(41))
        add("alloc", 12, 1, forward(42))
        add("free_requested", 12, 1, forward(42))
        add("alloc", 9, 3, forward(43))
        add("alloc", 13, 4, backward)
        add("free_requested", 9, 3, backward)
        add("free_requested", 6, 3, backward)
        if number == 0:
            add("alloc", 20, 8, adam)
        add("free_requested", 13, 4, zero)
        add("free_requested", 4, 2, batch)
    blocks = [{"address": base, "size": 4 * MIB, "state": "active_allocated", "frames": move},
              {"address": base + 4 * MIB, "size": 16 * MIB, "state": "inactive"},
              {"address": base + 20 * MIB, "size": 8 * MIB, "state": "active_allocated", "frames": adam},
              {"address": base + 28 * MIB, "size": 12 * MIB, "state": "inactive"}]
    return {"segments": [{"device": 0, "address": base, "total_size": 40 * MIB, "allocated_size": 12 * MIB,
                          "stream": 0, "segment_type": "large", "is_expandable": True, "blocks": blocks}],
            "device_traces": [events]}


class Evil:
    def __reduce__(self):
        return os.system, ("touch " + os.path.join(folder, "ran"),)


def write(name, value, protocol=4):
    with open(os.path.join(folder, name), "wb") as file:
        pickle.dump(value, file, protocol=protocol)


for version in range(2, 6):
    write(f"snapshot_{version}.pickle", snapshot(version), version)
    write(f"evil_{version}.pickle", {"segments": [Evil()], "device_traces": []}, version)
write("step.pickle", step())
write("segments.pickle", {"segments": snapshot()["segments"], "device_traces": []})
write("set.pickle", {"segments": {1, 2}})
write("other.pickle", {"weights": [1, 2, 3]})
loop = {"segments": []}
loop["segments"].append(loop)
write("loop.pickle", loop)
without = snapshot()
for entry in without["device_traces"][0]:
    del entry["time_us"]
write("no_times.pickle", without)
