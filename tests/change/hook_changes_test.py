"""What changes by hooks do to torch: each in a separate process, forked after torch is imported."""
import importlib.util
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import tempfile
import traceback
import unittest

import torch
from torch.utils.data import DataLoader, TensorDataset

FOLDER = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "resources", "python"))


def changes():
    spec = importlib.util.spec_from_file_location("stepscope_changes", os.path.join(FOLDER, "stepscope", "changes.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(wanted, function):
    """The return value of a function in a child in which the changes are applied."""

    def child(pipe):
        try:
            torch.set_num_threads(1)
            changes().apply(torch, wanted)
            pipe.send((True, pickle.dumps(function())))
        except BaseException:
            pipe.send((False, traceback.format_exc()))
        pipe.close()

    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=child, args=(theirs,))
    process.start()
    theirs.close()
    good, value = ours.recv()
    process.join()
    if not good:
        raise AssertionError(value)
    return pickle.loads(value)


DATA = TensorDataset(torch.zeros(32, 3, 8, 8), torch.zeros(32, dtype=torch.long))


class Net(torch.nn.Module):
    """Stores what its layers received."""

    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3)
        self.head = torch.nn.Linear(4 * 6 * 6, 2)
        self.seen = []

    def forward(self, x):
        y = self.conv(x)
        self.seen.append((str(y.dtype), torch.is_grad_enabled(), x.is_contiguous(memory_format=torch.channels_last)))
        return self.head(y.flatten(1))


def train(steps=4, model=None, lr=0.1, clip=None, **named):
    """Trains and validates. Returns the inputs of the layers, the losses' dtypes, and the sum of the weights."""
    torch.manual_seed(0)
    model = Net() if model is None else model
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, **named)
    criterion = torch.nn.CrossEntropyLoss()
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    kinds = set()
    for _ in range(steps):
        optimizer.zero_grad()
        x = torch.randn(4, 3, 8, 8)
        out = model(x)
        loss = criterion(out, torch.tensor([0, 1, 0, 1]))
        loss.backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        scheduler.step()
        kinds.add((str(out.dtype), str(loss.dtype)))
    model.eval()
    model(torch.randn(4, 3, 8, 8))
    return getattr(model, "seen", []), kinds, sum(p.detach().double().sum().item() for p in model.parameters())


class HookChanges(unittest.TestCase):
    def test_loaders(self):
        def made():
            loader = DataLoader(DATA, 8, True)
            plain = DataLoader(DATA, batch_size=8)
            return (loader.num_workers, loader.prefetch_factor, loader.persistent_workers, loader.batch_size, plain.batch_size,
                    len(list(loader)))

        wanted = {"loader.workers": "2", "loader.prefetch_factor": "4", "loader.persistent_workers": "true", "batch.size": "16"}
        self.assertEqual(run(wanted, made), (2, 4, True, 16, 8, 2))

    def test_no_workers_drops_what_needs_them(self):
        def made():
            return DataLoader(DATA, num_workers=2, prefetch_factor=4, persistent_workers=True).num_workers

        self.assertEqual(run({"loader.workers": "0"}, made), 0)
        self.assertIsNone(run({"loader.prefetch_factor": "4"}, lambda: DataLoader(DATA).prefetch_factor))

    def test_copies_to_a_device_do_not_wait(self):
        def copies():
            seen = []
            module = changes()
            copy = module._without_waiting(torch, lambda self, *a, **named: seen.append(named.get("non_blocking")), False)
            tensor = torch.zeros(1)
            for arguments, named in ((("meta",), {}), (("cpu",), {}), ((torch.float16,), {}), (("meta", torch.float16, False), {}),
                                     ((), {"device": torch.device("meta")}), (("meta",), {"non_blocking": False})):
                copy(tensor, *arguments, **named)
            return seen

        self.assertEqual(run({}, copies), [True, None, None, None, True, False])
        self.assertEqual(run({"transfer.non_blocking": "true"}, lambda: str(torch.zeros(1).to("meta").device)), "meta")

    def test_backend_flags_stay(self):
        def flags():
            torch.backends.cudnn.benchmark = False
            torch.set_float32_matmul_precision("highest")
            torch.backends.cuda.matmul.allow_tf32 = False
            return torch.backends.cudnn.benchmark, torch.get_float32_matmul_precision()

        self.assertEqual(run({"cudnn.benchmark": "true", "precision.tf32": "true"}, flags), (True, "high"))

    def test_gradients_become_none(self):
        def gradient():
            layer = torch.nn.Linear(2, 2)
            optimizer = torch.optim.AdamW(layer.parameters())
            layer(torch.ones(1, 2)).sum().backward()
            optimizer.zero_grad(set_to_none=False)
            return layer.weight.grad is None

        self.assertTrue(run({"zero_grad.set_to_none": "true"}, gradient))
        self.assertFalse(run({"zero_grad.set_to_none": "false"}, gradient))

    def test_implementation_of_optimizers(self):
        def group(kind):
            optimizer = kind((p for p in torch.nn.Linear(2, 2).parameters()), lr=0.1)
            return optimizer.param_groups[0].get("fused"), optimizer.param_groups[0]["foreach"], len(optimizer.param_groups[0]["params"])

        adam, other = (lambda: group(torch.optim.AdamW)), (lambda: group(torch.optim.RMSprop))
        self.assertEqual(run({"optimizer.implementation": "fused"}, adam)[0::2], (True, 2))
        self.assertEqual(run({"optimizer.implementation": "foreach"}, adam)[1:], (True, 2))
        self.assertEqual(run({"optimizer.implementation": "for-loop"}, adam)[1:], (False, 2))
        self.assertEqual(run({"optimizer.implementation": "fused"}, other)[0::2], (None, 2))

    def test_autocast_around_the_outermost_module(self):
        seen, kinds, _ = run({"precision.amp": "bf16"}, train)
        self.assertEqual({kind for kind, _, _ in seen}, {"torch.bfloat16"})
        self.assertEqual(kinds, {("torch.float32", "torch.float32")})

    def test_fp16_scales_gradients_and_skips_steps_that_overflow(self):
        def scaled():
            seen, kinds, total = train()
            model = torch.nn.Linear(2, 2)
            optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
            before = model.weight.detach().clone()
            (model(torch.ones(1, 2)).sum() * float("inf")).backward()
            optimizer.step()
            return seen, kinds, total, bool(torch.equal(before, model.weight))

        seen, kinds, total, kept = run({"precision.amp": "fp16"}, scaled)
        self.assertEqual({kind for kind, _, _ in seen}, {"torch.float16"})
        self.assertTrue(kept)
        plain = run({}, train)[2]
        self.assertAlmostEqual(total, plain, delta=0.02)
        self.assertNotEqual(total, plain)

    def test_fp16_gradients_are_clipped_unscaled(self):
        plain, scaled = (run(wanted, lambda: train(clip=0.01))[2] for wanted in ({}, {"precision.amp": "fp16"}))
        self.assertAlmostEqual(plain, scaled, delta=0.005)

    def test_autocast_off(self):
        def kind():
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return str(torch.nn.Linear(2, 2)(torch.ones(1, 2)).dtype)

        self.assertEqual(run({"precision.amp": "off"}, kind), "torch.float32")

    def test_channels_last_with_its_inputs(self):
        seen, _, total = run({"memory_format": "channels_last"}, train)
        self.assertTrue(all(channels_last for _, _, channels_last in seen))
        self.assertAlmostEqual(total, run({}, train)[2], places=4)

    def test_no_gradients_in_validation_only(self):
        seen, _, _ = run({"eval.no_grad": "true"}, train)
        self.assertEqual([grad for _, grad, _ in seen], [True] * 4 + [False])

    def test_layers_inside_are_not_watched_after_two_steps(self):
        def calls():
            before = torch.nn.Module.__call__
            train(1)
            between = torch.nn.Module.__call__
            train(3)
            return before is between, torch.nn.Module.__call__ is not before

        self.assertEqual(run({"eval.no_grad": "true"}, calls), (True, True))

    def test_compile_falls_back(self):
        def compiled():
            torch._dynamo.reset()

            def broken(*_, **__):
                raise RuntimeError("no compiler")

            torch._dynamo.config.suppress_errors = False
            compile_one, called = torch.nn.Module.compile, []
            torch.nn.Module.compile = lambda self, **_: (called.append(type(self).__name__), compile_one(self, backend=broken))
            return train()[2], called

        import torch._dynamo  # once, not in each child

        total, called = run({"compile": "true"}, compiled)
        self.assertEqual(called, ["Net"])
        self.assertAlmostEqual(total, run({}, train)[2], places=4)

    def test_checkpointing_of_equal_blocks(self):
        def forwards():
            counted = []

            class Block(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.layer = torch.nn.Linear(4, 4)

                def forward(self, x):
                    counted.append(1)
                    return self.layer(x)

            model = torch.nn.Sequential(*[Block() for _ in range(3)])
            model(torch.ones(1, 4)).sum().backward()
            return len(counted)

        self.assertEqual((run({}, forwards), run({"checkpointing": "all"}, forwards)), (3, 6))

    def test_debug_tools_are_off(self):
        def tools():
            torch.autograd.set_detect_anomaly(True)
            with torch.autograd.detect_anomaly():
                anomaly = torch.is_anomaly_enabled()
            with torch.autograd.profiler.profile() as old, torch.profiler.profile() as new:
                torch.ones(2) + 1
                new.step()
            new.export_chrome_trace("/nonexistent/x")
            return (anomaly, old.enabled, len(new.key_averages()), torch.autograd.profiler.emit_nvtx().enabled,
                    torch.autograd.gradcheck(lambda x: x * 2, torch.ones(1)))

        wanted = {key: "false" for key in ("debug.anomaly", "debug.autograd_profiler", "debug.emit_nvtx", "debug.gradcheck")}
        self.assertEqual(run(wanted, tools), (False, False, 0, False, True))

    def test_by_the_environment_without_a_recording(self):
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "train.py")
            with open(script, "w") as file:
                file.write("import torch.utils.data as d\nprint(d.DataLoader([1]).num_workers)\n")
            environment = {key: value for key, value in os.environ.items() if not key.startswith("STEPSCOPE_")}
            environment.update(PYTHONPATH=os.path.join(FOLDER, "startup"), PYTHONDONTWRITEBYTECODE="1",
                               STEPSCOPE_CHANGES=json.dumps({"loader.workers": "3", "nothing": "1"}))
            done = subprocess.run([sys.executable, script], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.stdout.decode().strip(), "3", done.stderr.decode())
        self.assertIn("no hook can change nothing", done.stderr.decode())


if __name__ == "__main__":
    unittest.main()
