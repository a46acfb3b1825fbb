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


class Evil:
    def __reduce__(self):
        return os.system, ("touch " + os.path.join(folder, "ran"),)


def write(name, value, protocol=4):
    with open(os.path.join(folder, name), "wb") as file:
        pickle.dump(value, file, protocol=protocol)


for version in range(2, 6):
    write(f"snapshot_{version}.pickle", snapshot(version), version)
    write(f"evil_{version}.pickle", {"segments": [Evil()], "device_traces": []}, version)
write("set.pickle", {"segments": {1, 2}})
write("other.pickle", {"weights": [1, 2, 3]})
loop = {"segments": []}
loop["segments"].append(loop)
write("loop.pickle", loop)
without = snapshot()
for entry in without["device_traces"][0]:
    del entry["time_us"]
write("no_times.pickle", without)
