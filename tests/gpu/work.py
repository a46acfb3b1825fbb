"""A program on the GPU whose operations are counted: `run` records it, and compares the counts with Kineto's and with these.

usage: work.py known | train STEPS [cnn|mlp] | kineto STEPS [cnn|mlp]
Prints one line of JSON.
"""
import json
import sys
import time

import torch

STEPS_OF_KNOWN, COPY_BYTES = 5, 1 << 20


def known():
    """Five steps with a known number of everything; the counts that CUPTI must give are printed."""
    device = torch.device("cuda")
    pinned = torch.empty(COPY_BYTES, dtype=torch.uint8).pin_memory()
    pageable = torch.empty(COPY_BYTES, dtype=torch.uint8)
    there = torch.empty(COPY_BYTES, dtype=torch.uint8, device=device)
    matrix = torch.randn(256, 256, device=device)
    side = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    static = torch.ones(1024, device=device)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        static.mul_(1.5)
        static.add_(1)
    torch.cuda.synchronize()
    torch.cuda.nvtx.range_push("known")
    for _ in range(STEPS_OF_KNOWN):
        torch.cuda.nvtx.range_push("known step")
        there.copy_(pinned, non_blocking=True)
        there.copy_(pageable)
        pageable.copy_(there)
        there.zero_()
        event = torch.cuda.Event()
        event.record()
        side.wait_event(event)
        with torch.cuda.stream(side):
            matrix @ matrix
        graph.replay()
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_pop()
    torch.cuda.nvtx.range_pop()
    return {"steps": STEPS_OF_KNOWN, "copies": {"HtoD pinned": STEPS_OF_KNOWN, "HtoD pageable": STEPS_OF_KNOWN,
                                               "DtoH pageable": STEPS_OF_KNOWN}, "copy_bytes": COPY_BYTES,
            "graph_launches": STEPS_OF_KNOWN, "synchronizations": STEPS_OF_KNOWN}


def model(kind):
    torch.manual_seed(1)
    if kind == "mlp":  # many tiny operators: the worst case for a recorder
        layers = [module for _ in range(30) for module in (torch.nn.Linear(64, 64), torch.nn.ReLU())]
        return torch.nn.Sequential(*layers).cuda(), torch.randn(64, 64, device="cuda")
    layers = [torch.nn.Conv2d(3, 64, 3, padding=1), torch.nn.ReLU()]
    for _ in range(6):
        layers += [torch.nn.Conv2d(64, 64, 3, padding=1), torch.nn.BatchNorm2d(64), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers).cuda(), torch.randn(64, 3, 64, 64, device="cuda")


def train(steps, kind, profiler=None):
    net, inputs = model(kind)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)

    def step():
        optimizer.zero_grad()
        net(inputs).square().mean().backward()
        optimizer.step()

    for _ in range(20):
        step()
    torch.cuda.synchronize()
    if profiler:
        profiler.__enter__()
    began = time.perf_counter()
    for _ in range(steps):
        step()
    torch.cuda.synchronize()
    seconds = time.perf_counter() - began
    result = {"us_a_step": seconds / steps * 1e6}
    if profiler:
        profiler.__exit__(None, None, None)
        kinds = {}
        for event in profiler.events():
            if event.device_type == torch.autograd.DeviceType.CUDA:
                kind_of = "memcpy" if event.name.startswith("Memcpy") else "memset" if event.name.startswith("Memset") else "kernel"
                kinds[kind_of] = kinds.get(kind_of, 0) + 1
        result["kineto"] = kinds
    return result


def main():
    what = sys.argv[1]
    if what == "known":
        return known()
    kind = sys.argv[3] if len(sys.argv) > 3 else "cnn"
    profiler = None
    if what == "kineto":
        activities = torch.profiler.ProfilerActivity
        profiler = torch.profiler.profile(activities=[activities.CPU, activities.CUDA])
    return train(int(sys.argv[2]), kind, profiler)


print(json.dumps(main()))
