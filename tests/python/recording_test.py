"""stepscope.recording() in a script, and hooks that fail: neither changes what the program does.

Usage: recording_test.py CLI FOLDER_OF_THE_PACKAGE [TEST]; run with the Python that has torch.
"""
import difflib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

CLI, PACKAGE = sys.argv[1:3]
del sys.argv[1:3]

_MADE = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(1)
model = nn.Linear(16, 4)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
data = TensorDataset(torch.randn(256, 16), torch.randint(0, 4, (256,)))

def train(loader):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    return loss.item()
"""


class RecordingTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_a_stream_is_divided_among_workers_if_its_code_asks_for_the_worker(self):
        sys.path.insert(0, PACKAGE)
        self.addCleanup(sys.path.remove, PACKAGE)
        from stepscope import loaders
        from torch.utils.data import DataLoader

        head = "import torch.utils.data\nfrom torch.utils.data import IterableDataset\n"
        stream = "class Stream(IterableDataset):\n    def __iter__(self):\n        "
        for text, sharded in (
            (stream + "yield 1\n", False),
            (stream + "yield torch.utils.data.get_worker_info()\n", True),
            ("from torch.utils.data import get_worker_info as worker\n" + stream + "yield worker()\n", True),
            ("def part(x):\n    return lambda: torch.utils.data.get_worker_info()\n" + stream + "yield part(1)\n", True),
            (stream + "yield 1\n\nclass Inner(IterableDataset):\n    def __iter__(self): pass\nStream.__init__ = "
             "lambda self: setattr(self, 'inner', Inner())\n", None),
        ):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "stream_of_test.py")
                with open(path, "w") as file:
                    file.write(head + text)
                spec = importlib.util.spec_from_file_location("stream_of_test", path)
                module = sys.modules["stream_of_test"] = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(module)
                described = loaders.described_dataset(DataLoader(module.Stream()))
                self.assertTrue(described["iterable"])
                self.assertIs(described["sharded"], sharded, text)
                del sys.modules["stream_of_test"]

    def run_program(self, text, **variables):
        path = os.path.join(self.folder, "program.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(_MADE + text)
        environment = {**os.environ, "PYTHONPATH": PACKAGE, "STEPSCOPE_CLI": CLI, **variables}
        done = subprocess.run(
            [sys.executable, "program.py"], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=280
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def summary(self, trace):
        done = subprocess.run([CLI, "summarize", "--json", trace], cwd=self.folder, capture_output=True, text=True, timeout=100)
        return json.loads(done.stdout)

    def rows(self, trace, sql):
        done = subprocess.run([CLI, "query", trace, sql, "--json"], cwd=self.folder, capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["rows"]

    def process_names(self, trace):
        subprocess.run([CLI, "convert", trace, "converted.json"], cwd=self.folder, capture_output=True, timeout=100, check=True)
        with open(os.path.join(self.folder, "converted.json"), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        return {event["args"]["name"] for event in events if event.get("name") == "process_name"}

    def objects(self, summary, kind):
        return [entry for entry in summary["program"]["objects"] if entry["kind"] == kind and entry["count"]]

    def test_parts_of_a_program_that_has_imported_torch(self):
        self.run_program(
            "train(DataLoader(data, batch_size=32))\n"
            "import stepscope\n"
            "with stepscope.recording('first.sstrace'):\n"
            "    loader = DataLoader(data, batch_size=16)\n"
            "    train(loader)\n"
            "train(loader)\n"
            "with stepscope.recording('second.sstrace', ops=False):\n"
            "    train(loader)\n"
            "    train(DataLoader(data, batch_size=8))\n"
        )
        first, second = self.summary("first.sstrace"), self.summary("second.sstrace")
        self.assertEqual((first["steps"]["count"], second["steps"]["count"]), (16, 48))
        self.assertEqual([entry["count"] for entry in self.objects(first, "optimizer")], [16])
        self.assertEqual([entry["count"] for entry in self.objects(second, "optimizer")], [48])
        lines = [entry["site"]["line"] for entry in self.objects(second, "loader")]
        begin = _MADE.count("\n")
        self.assertEqual(lines, [begin + 4, begin + 9])

    def test_a_program_without_an_optimizer_has_steps_where_it_zeroes_its_gradients(self):
        self.run_program(
            "import stepscope\n"
            "del optimizer\n"
            "with stepscope.recording('run.sstrace'):\n"
            "    for x, y in DataLoader(data, batch_size=16):\n"
            "        model.zero_grad()\n"
            "        nn.functional.cross_entropy(model(x), y).backward()\n"
            "        for p in model.parameters():\n"
            "            p.data.add_(p.grad, alpha=-0.1)\n"
        )
        summary = self.summary("run.sstrace")
        # The last one is not followed by zero_grad(); the model is known from the first one on.
        self.assertEqual(summary["steps"]["count"], 15)
        self.assertEqual([entry["count"] for entry in self.objects(summary, "forward")], [15])

    def test_processes_that_train_describe_the_program(self):
        """Of a program whose children train, as mp.spawn's do, and whose first process only reads the command line."""
        text = (
            "import argparse\n"
            "def child(model, lr):\n"
            "    optimizer = torch.optim.SGD(model.parameters(), lr=lr)\n"
            "    for x, y in DataLoader(data, batch_size=16):\n"
            "        optimizer.zero_grad()\n"
            "        nn.functional.cross_entropy(model(x), y).backward()\n"
            "        optimizer.step()\n"
            "if __name__ == '__main__':\n"
            "    parser = argparse.ArgumentParser()\n"
            "    parser.add_argument('--how')\n"
            "    parser.add_argument('--lr', type=float)\n"
            "    args = parser.parse_args()\n"
            "    torch.multiprocessing.set_start_method(args.how)\n"
            "    children = [torch.multiprocessing.Process(target=child, args=(model, args.lr)) for _ in range(2)]\n"
            "    [each.start() for each in children], [each.join() for each in children]\n"
            "    sum(1 for _ in DataLoader(data, batch_size=64))\n"
        )
        with open(os.path.join(self.folder, "program.py"), "w", encoding="utf-8") as file:
            file.write(_MADE + text)
        for how in ("spawn", "fork"):
            with self.subTest(how):
                words = [sys.executable, "program.py", "--how", how, "--lr", "0.1"]
                trace = how + ".sstrace"
                done = subprocess.run([CLI, "record", "-o", trace, "--", *words], cwd=self.folder, capture_output=True,
                                      text=True, timeout=280)
                self.assertEqual(done.returncode, 0, done.stderr)
                summary = self.summary(trace)
                program = summary["program"]
                self.assertEqual([entry["count"] for entry in self.objects(summary, "optimizer")], [16])
                self.assertEqual([entry["count"] for entry in self.objects(summary, "forward")], [16])
                self.assertEqual([entry["class"] for entry in self.objects(summary, "loader")], ["torch.utils.data.DataLoader"])
                self.assertEqual(program["argv"][1:], words[1:])
                self.assertEqual({entry["dest"]: entry["value"] for entry in program["arguments"]}, {"how": how, "lr": 0.1})
                self.assertTrue(program["script"].endswith("program.py"))
                names = self.process_names(trace)
                self.assertTrue(any("program.py" in name for name in names), names)
                self.assertEqual(any(name.endswith("(process spawned by multiprocessing)") for name in names), how == "spawn")

    def test_the_facts_describe_model_precision_loss_and_memory(self):
        with open(os.path.join(self.folder, "program.py"), "w", encoding="utf-8") as file:
            file.write(
                "import torch\n"
                "from torch import nn\n"
                "from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler\n"
                "torch.manual_seed(1)\n"
                "torch.set_float32_matmul_precision('high')\n"
                "class Attention(nn.Module):\n"
                "    def __init__(self):\n"
                "        super().__init__()\n"
                "        self.q, self.k, self.v = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8, bias=False)\n"
                "    def forward(self, x):\n"
                "        return torch.softmax(self.q(x) @ self.k(x).transpose(-2, -1), -1) @ self.v(x)\n"
                "class Net(nn.Module):\n"
                "    def __init__(self):\n"
                "        super().__init__()\n"
                "        self.conv = nn.Conv2d(1, 8, 3, padding=1)\n"
                "        self.attention, self.head = Attention(), nn.Linear(8, 2)\n"
                "    def forward(self, x):\n"
                "        return self.head(self.attention(self.conv(x).flatten(2).transpose(1, 2)).mean(1))\n"
                "model = Net()\n"
                "model.conv.requires_grad_(False)\n"
                "data = TensorDataset(torch.randn(128, 1, 4, 4), torch.randint(0, 2, (128,)))\n"
                "loader = DataLoader(data, batch_size=4, sampler=WeightedRandomSampler([1.0] * 128, 128))\n"
                "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
                "scaler = torch.amp.GradScaler('cpu')\n"
                "for i, (x, y) in enumerate(loader):\n"
                "    with torch.autocast('cpu', dtype=torch.bfloat16):\n"
                "        loss = nn.functional.cross_entropy(model(x), y) / 2\n"
                "    scaler.scale(loss * float('nan') if i == 3 else loss).backward()\n"
                "    if i % 2:\n"
                "        scaler.step(optimizer); scaler.update(); optimizer.zero_grad()\n"
            )
        subprocess.run([CLI, "record", "-o", "run.sstrace", "--", sys.executable, "program.py"], cwd=self.folder,
                       capture_output=True, text=True, timeout=280, check=True)
        program = self.summary("run.sstrace")["program"]
        by_kind = {}
        for entry in program["objects"]:
            by_kind.setdefault(entry["kind"], []).append(entry)
        self.assertEqual(by_kind["loader"][0]["sampler"].rpartition(".")[2], "WeightedRandomSampler")
        self.assertEqual(by_kind["optimizer"][0]["backward_passes"], 2)
        self.assertEqual(by_kind["optimizer"][0]["skipped"], 1)
        self.assertEqual([entry["site"]["line"] for entry in by_kind["scaler"]], [24])
        self.assertEqual(by_kind["autocast"][0]["site"]["line"], 26)
        modules = {entry["name"]: entry for entry in program["modules"]}
        self.assertEqual((modules["conv"]["class"].rpartition(".")[2], modules["conv"]["requires_grad"]), ("Conv2d", False))
        self.assertEqual((modules["attention.v"]["bias"], modules["attention.q"]["bias"]), (False, True))
        self.assertEqual(modules["head"]["dtype"], "float32")
        self.assertEqual(program["precision"]["float32_matmul_precision"], "high")
        self.assertEqual(program["loss"]["nan"], 1)
        self.assertIn("written out", [entry["kind"] for entry in program["attention"]])
        self.assertGreater(program["memory"]["host_peak"], 0)

    def test_settings_from_a_configuration_file_are_patched_there(self):
        with open(os.path.join(self.folder, "conf.json"), "w", encoding="utf-8") as file:
            file.write('{"data": {\n  "batch_size": 16,\n  "workers": 0},\n "lr": 0.01}\n')
        text = (
            "import json\n"
            "with open('conf.json') as file:\n"
            "    conf = json.load(file)\n"
            "for group in optimizer.param_groups:\n"
            "    group['lr'] = conf['lr']\n"
            "train(DataLoader(data, batch_size=conf['data']['batch_size'], num_workers=int(conf['data'].get('workers', 1))))\n"
        )
        with open(os.path.join(self.folder, "program.py"), "w", encoding="utf-8") as file:
            file.write(_MADE + text)
        subprocess.run([CLI, "record", "-o", "run.sstrace", "--", sys.executable, "program.py"], cwd=self.folder,
                       capture_output=True, text=True, timeout=280, check=True)
        program = self.summary("run.sstrace")["program"]
        settings = next(entry["settings"] for entry in program["objects"] if entry["kind"] == "loader")
        places = {name: settings[name]["configuration"] for name in ("batch_size", "num_workers")}
        self.assertEqual({name: (os.path.basename(place["file"]), place["line"], place["key"]) for name, place in places.items()},
                         {"batch_size": ("conf.json", 2, "data.batch_size"), "num_workers": ("conf.json", 3, "data.workers")})
        done = subprocess.run([CLI, "patch", "run.sstrace", "--set", "batch.size=64", "--set", "loader.workers=2"],
                              cwd=self.folder, capture_output=True, text=True, timeout=100)
        changed = [line for line in done.stdout.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
        self.assertEqual(changed, ['-  "batch_size": 16,', '-  "workers": 0},', '+  "batch_size": 64,', '+  "workers": 2},'])

    def test_a_diff_and_another_command_are_measured(self):
        text = (
            "import sys, time\n"
            "SECONDS = float(sys.argv[1])\n"
            "for _ in range(100):\n"
            "    for x, y in DataLoader(data, batch_size=16):\n"
            "        optimizer.zero_grad()\n"
            "        nn.functional.cross_entropy(model(x), y).backward()\n"
            "        time.sleep(SECONDS)\n"
            "        optimizer.step()\n"
        )
        path = os.path.join(self.folder, "program.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(_MADE + text)
        with open(path, encoding="utf-8") as file:
            before = file.read()
        after = before.replace("time.sleep(SECONDS)", "time.sleep(SECONDS / 4)")
        diff = difflib.unified_diff(before.splitlines(True), after.splitlines(True), "a/program.py", "b/program.py")
        with open(os.path.join(self.folder, "faster.diff"), "w", encoding="utf-8") as file:
            file.writelines(diff)
        command = [sys.executable, "program.py", "0.02"]
        for option, value in (("--patch", "faster.diff"), ("--against", f"{sys.executable} program.py 0.005")):
            with self.subTest(option):
                done = subprocess.run([CLI, "experiment", option, value, "--budget", "40", "--turn", "400", "--json", "--", *command],
                                      cwd=self.folder, capture_output=True, text=True, timeout=250)
                self.assertEqual(done.returncode, 0, done.stderr)
                result = json.loads(done.stdout)
                self.assertIn(result["verdict"], ("pays", "inconclusive"), result["why"])  # on a busy machine
                self.assertGreater(result["step_us"]["ratio"], 1.1, result["why"])
                self.assertEqual(result["program"]["command"], command)
                with open(path, encoding="utf-8") as file:
                    self.assertEqual(file.read(), before)

    def test_an_isolated_helper_is_not_reported_where_the_training_is_recorded(self):
        """uv and pip start interpreters with -I to ask them about themselves."""
        with open(os.path.join(self.folder, "program.py"), "w", encoding="utf-8") as file:
            file.write(_MADE + "train(DataLoader(data, batch_size=32))\n")
        command = f"{sys.executable} -I -c pass; {sys.executable} program.py"
        done = subprocess.run([CLI, "record", "-o", "run.sstrace", "--", "sh", "-c", command], cwd=self.folder,
                              capture_output=True, text=True, timeout=280)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("was started with -I", done.stderr)
        self.assertEqual(self.summary("run.sstrace")["data_loss"]["notes"], [])

    def test_nothing_can_be_recorded_and_the_program_goes_on(self):
        done = self.run_program(
            "import stepscope\nwith stepscope.recording('/nowhere/at/all.sstrace') as on:\n    print(on, train(DataLoader(data)))\n"
        )
        self.assertTrue(done.stdout.startswith("False"), done.stdout)
        self.assertIn("nothing is recorded", done.stderr)

    def test_a_copy_of_the_model_validates_only_where_nothing_trains(self):
        self.run_program(
            "import copy, stepscope\n"
            "average = copy.deepcopy(model)\n"
            "with stepscope.recording('teacher.sstrace', ops=False):\n"
            "    for x, y in DataLoader(data, batch_size=32):\n"
            "        optimizer.zero_grad()\n"
            "        (model(x) - average(x)).square().sum().backward()\n"
            "        optimizer.step()\n"
            "with stepscope.recording('average.sstrace', ops=False):\n"
            "    train(DataLoader(data, batch_size=32))\n"
            "    for x, y in DataLoader(data, batch_size=64):\n"
            "        average(x)\n"
        )
        found = {}
        for name in ("teacher", "average"):
            objects = self.summary(name + ".sstrace")["program"]["objects"]
            found[name] = [(entry["site"]["line"], entry["count"], entry["grad"]) for entry in objects if entry["kind"] == "validation"]
        self.assertEqual(found, {"teacher": [], "average": [(_MADE.count("\n") + 11, 1, True)]})

    def test_samples_that_a_program_generates_now_and_then_are_in_no_step(self):
        """Calls without gradients after each fifth step; after each step, they are part of it."""
        text = (
            "import stepscope, time\n"
            "def sample():\n"
            "    with torch.no_grad():\n"
            "        for _ in range(4):\n"
            "            model(data.tensors[0])\n"
            "            time.sleep(0.02)\n"
            "for name, batches in (('loader', DataLoader(data, batch_size=16)), ('list', list(DataLoader(data, batch_size=16)))):\n"
            "    for every in (5, 1):\n"
            "        with stepscope.recording(f'{name}_{every}.sstrace', ops=False):\n"
            "            for step, (x, y) in enumerate(batches):\n"
            "                optimizer.zero_grad()\n"
            "                nn.functional.cross_entropy(model(x), y).backward()\n"
            "                optimizer.step()\n"
            "                if step % every == every - 1:\n"
            "                    MODE\n"
            "                    sample()\n"
            "                    model.train()\n"
        )
        phases = "SELECT name FROM slice WHERE name IN ('generation', 'validation')"
        for mode, name in (("pass", "generation"), ("model.eval()", "validation")):
            self.run_program(text.replace("MODE", mode))
            for kind in ("loader", "list"):
                with self.subTest(f"{mode}, {kind}"):
                    self.assertEqual(self.rows(f"{kind}_5.sstrace", phases), [[name]] * 3)
                    overlap = f"{phases} AND EXISTS (SELECT 1 FROM step WHERE step.ts < slice.ts + slice.dur AND step.ts + step.dur > slice.ts)"
                    self.assertEqual(self.rows(f"{kind}_5.sstrace", overlap), [])
        self.run_program(text.replace("MODE", "pass"))
        for kind in ("loader", "list"):
            with self.subTest(f"each step, {kind}"):
                steps = self.summary(f"{kind}_1.sstrace")["steps"]["list_us"]
                self.assertGreater(min(steps[1:]), 70e3)
                self.assertEqual(self.rows(f"{kind}_1.sstrace", phases), [])

    def test_a_model_within_the_trained_module_validates(self):
        self.run_program(
            "import stepscope\n"
            "class Task(nn.Module):\n"
            "    def __init__(self, model):\n"
            "        super().__init__()\n"
            "        self.model = model\n"
            "    def forward(self, x, y):\n"
            "        return nn.functional.cross_entropy(self.model(x), y)\n"
            "class Model(nn.Module):\n"
            "    def __init__(self):\n"
            "        super().__init__()\n"
            "        self.layers = nn.Sequential(nn.Linear(16, 8), nn.Linear(8, 4))\n"
            "    def forward(self, x):\n"
            "        return self.layers(x)\n"
            "model = Model()\n"
            "task = Task(model)\n"
            "optimizer = torch.optim.SGD(task.parameters(), lr=0.1)\n"
            "with stepscope.recording('task.sstrace', ops=False):\n"
            "    for x, y in DataLoader(data, batch_size=32):\n"
            "        optimizer.zero_grad()\n"
            "        task(x, y).backward()\n"
            "        optimizer.step()\n"
            "    model.eval()\n"
            "    for x, y in DataLoader(data, batch_size=64):\n"
            "        model(x)\n"
        )
        summary, line = self.summary("task.sstrace"), _MADE.count("\n")
        found = [(entry["site"]["line"], entry["count"], entry["grad"]) for entry in self.objects(summary, "validation")]
        self.assertEqual(found, [(line + 24, 1, True)])
        self.assertEqual([(entry["site"]["line"], entry["count"]) for entry in self.objects(summary, "forward")], [(line + 20, 8)])

    def test_ranks_that_wait_for_a_validation_have_no_steps_of_that_length(self):
        programs = os.path.join(os.path.dirname(os.path.abspath(__file__)), "turns.py")
        for kind in ("all ranks validate", "the first rank validates", "the first rank validates without a barrier"):
            trace = kind.replace(" ", "_") + ".sstrace"
            subprocess.run([CLI, "record", "--ops", "-o", trace, "--", sys.executable, "-m", "torch.distributed.run",
                            "--standalone", "--nproc_per_node", "2", programs, kind, "95"],
                           cwd=self.folder, capture_output=True, timeout=280, check=True)
            summary = self.summary(trace)
            self.assertEqual([rank["steps"]["count"] for rank in summary["ranks"]], [95, 95], kind)
            for rank in summary["ranks"]:
                self.assertLess(rank["steps"]["steady_mean_us"], 50e3, kind + ": a validation takes 100 ms")
            (validation,) = self.objects(summary, "validation")
            self.assertEqual((validation["count"], validation["grad"]), (9, False), kind)
            advice = subprocess.run([CLI, "advise", "--json", trace], cwd=self.folder, capture_output=True, text=True)
            (rule,) = [found for found in json.loads(advice.stdout)["advice"] if found["id"] == "eval.no_grad"]
            self.assertEqual(rule["state"], "silent", kind)

    def processes(self):
        """Processes with this test's variable in their environment, by id: their command lines."""
        found = {}
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{process}/environ", "rb") as file:
                    is_ours = f"RECORDING_TEST={self.folder}".encode() in file.read()
                with open(f"/proc/{process}/cmdline", "rb") as file:
                    command = file.read().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if is_ours and command:
                found[int(process)] = command
        return found

    def record(self, text, *words, options=()):
        """Records a program, whose words are the interpreter's unless they are given. Returns the process and the report."""
        with open(os.path.join(self.folder, "program.py"), "w", encoding="utf-8") as file:
            file.write(_MADE + text)
        environment = {**os.environ, "RECORDING_TEST": self.folder, "PATH": self.folder + ":" + os.environ["PATH"]}
        # Not a pipe, which a daemon would keep open.
        done = subprocess.run(
            [CLI, "record", "-o", "run.sstrace", "--report", "report.json", *options, "--", *(words or (sys.executable,)), "program.py"],
            cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            timeout=280)
        with open(os.path.join(self.folder, "report.json"), encoding="utf-8") as file:
            return done, json.load(file)

    def test_a_program_that_hangs_is_stopped_and_its_stacks_are_reported(self):
        done, report = self.record(
            "def hangs():\n    import time\n    time.sleep(500)\n"
            "train(DataLoader(data, batch_size=32, num_workers=1))\nhangs()\n", options=("--patience", "4"))
        (hung,) = [note for note in report["note_messages"] if note["id"] == "record.hung"]
        self.assertIn("in hangs", hung["text"])
        self.assertEqual((done.returncode, report["exit_status"]), (1, 1))
        self.assertEqual(self.summary("run.sstrace")["steps"]["count"], 8)
        self.assertEqual(self.processes(), {})
        self.assertEqual(sorted(os.listdir(self.folder)), ["program.py", "report.json", "run.sstrace"])

    def test_a_slow_program_is_no_hang(self):
        done, report = self.record(
            "import time\n"
            "for batch in DataLoader(data, batch_size=32):\n    time.sleep(0.8)\n", options=("--patience", "4"))
        self.assertEqual((done.returncode, [note["id"] for note in report["note_messages"]]), (0, []))

    def test_a_daemon_is_recorded_while_the_recording_waits_for_it(self):
        daemon = "import os, time\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\n"
        train = "train(DataLoader(data, batch_size=32))\n"
        # The processes that have started the daemon leave by os._exit().
        ids = lambda report: {note["id"] for note in report["note_messages"]}
        done, report = self.record(daemon + "time.sleep(1)\n" + train)
        self.assertEqual((done.returncode, ids(report)), (0, set()))
        self.assertEqual(self.summary("run.sstrace")["steps"]["count"], 8)
        self.assertEqual(self.processes(), {})
        done, report = self.record(daemon + train + train + "time.sleep(100)\n")
        self.assertEqual(ids(report), {"record.part.still_runs"})
        self.assertGreaterEqual(self.summary("run.sstrace")["steps"]["count"], 15)
        ((process, command),) = self.processes().items()  # the user's daemon continues, and no process of Stepscope is left
        self.assertIn("program.py", command)
        os.kill(process, signal.SIGKILL)

    def test_a_command_of_conda_run_is_recorded(self):
        """`conda run` starts the command in a new shell, from a script that it has written."""
        conda = os.path.join(self.folder, "conda")
        with open(conda, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nshift 3\nscript=$(mktemp)\necho 'exec \"$@\"' > \"$script\"\n"
                       "/bin/sh \"$script\" \"$@\"\nstatus=$?\nrm \"$script\"\nexit $status\n")
        os.chmod(conda, 0o755)
        done, report = self.record("train(DataLoader(data, batch_size=32))\n", "conda", "run", "-n", "training", sys.executable)
        self.assertEqual((done.returncode, report["note_messages"]), (0, []))
        self.assertEqual(self.summary("run.sstrace")["steps"]["count"], 8)
        self.assertEqual(self.processes(), {})

    def test_gradients_that_no_optimizer_uses_are_counted(self):
        self.run_program(
            "import stepscope\n"
            "model = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 4))\n"
            "def program(name):\n"
            "    global optimizer\n"
            "    model.zero_grad()\n"
            "    with stepscope.recording(name, ops=False):\n"
            "        optimizer = torch.optim.SGD(model[2].parameters(), lr=0.1)\n"
            "        train(DataLoader(data, batch_size=32))\n"
            "        del optimizer\n"
            "program('unused.sstrace')\n"
            "model[0].requires_grad_(False)\n"
            "program('frozen.sstrace')\n"
            "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
            "model[0].requires_grad_(True)\n"
            "program('used.sstrace')\n"
        )
        found = {}
        for name in ("unused", "frozen", "used"):
            models = [entry for entry in self.summary(name + ".sstrace")["program"]["objects"] if entry["kind"] == "model"]
            found[name] = [(entry["unused_gradients"], entry["unused_gradients_in"]) for entry in models if entry["trainable"]]
        self.assertEqual(found["unused"], [(16 * 8 + 8, ["0"])])
        self.assertEqual(found["frozen"], [(0, [])])
        self.assertEqual(found["used"], [(0, [])])

    def test_options_of_click_are_the_programs_arguments(self):
        source = "/usr/lib/python3/dist-packages/click"
        if not os.path.isdir(source):
            self.skipTest("python3-click is not installed")
        shutil.copytree(source, os.path.join(self.folder, "click"))
        self.run_program(
            "import stepscope\n"
            "with stepscope.recording('run.sstrace'):\n"
            "    import click\n"
            "    @click.command()\n"
            "    @click.option('--workers', default=0)\n"
            "    @click.option('--rate', default=0.5)\n"
            "    def main(workers, rate):\n"
            "        train(DataLoader(data, batch_size=32, num_workers=workers))\n"
            "    main(['--workers', '1'], standalone_mode=False)\n"
        )
        arguments = {entry["dest"]: entry for entry in self.summary("run.sstrace")["program"]["arguments"]}
        self.assertEqual((arguments["workers"]["value"], arguments["workers"]["given"]), (1, True))
        self.assertEqual((arguments["rate"]["value"], arguments["rate"]["given"]), (0.5, False))
        self.assertEqual(arguments["workers"]["options"], ["--workers"])

    def test_calls_of_a_logger_have_a_line_and_a_time(self):
        """The package wandb is not installed here; a module of its name and form takes its place."""
        os.makedirs(os.path.join(self.folder, "wandb", "sdk"))
        for name, text in (
            ("__init__.py", "from .sdk.wandb_run import Run\n"),
            ("sdk/__init__.py", ""),
            ("sdk/wandb_run.py", "import time\nclass Run:\n    def log(self, data):\n        time.sleep(0.002)\n        return data\n"),
        ):
            with open(os.path.join(self.folder, "wandb", name), "w", encoding="utf-8") as file:
                file.write(text)
        self.run_program(
            "import stepscope\n"
            "with stepscope.recording('run.sstrace'):\n"
            "    import wandb\n"
            "    run = wandb.Run()\n"
            "    train(DataLoader(data, batch_size=32))\n"
            "    for _ in range(5):\n"
            "        assert run.log({'loss': 1}) == {'loss': 1}\n"
        )
        [log] = self.objects(self.summary("run.sstrace"), "log")
        self.assertEqual(log["count"], 5)
        self.assertGreaterEqual(log["time_us"], 10_000)
        self.assertEqual(log["site"]["line"], _MADE.count("\n") + 7)

    def test_a_tensor_without_data_is_no_sync(self):
        self.run_program(
            "import stepscope\n"
            "with stepscope.recording('run.sstrace'):\n"
            "    train(DataLoader(data, batch_size=32))\n"
            "    for _ in range(3):\n"
            "        print(torch.zeros(2, device='meta'))\n"
        )
        self.assertEqual(self.objects(self.summary("run.sstrace"), "sync"), [])

    def test_a_failing_hook_does_not_reach_the_program(self):
        """Each of our functions that a hook calls raises; the program's result stays the same."""
        plain = self.run_program("print(train(DataLoader(data, batch_size=32)))\n")
        failing = (
            "import stepscope\n"
            "from stepscope import facts, phases, sites, steps\n"
            "def fail(*_, **__):\n"
            "    raise RuntimeError('of a hook')\n"
            "with stepscope.recording('run.sstrace'):\n"
            "    for owner, names in ((facts.Facts, ('add', 'of', 'called')), (sites, ('capture', 'capture_construction')),\n"
            "                         (steps.Steps, ('batch_requested', 'optimized', 'training_began')),\n"
            "                         (phases.Phases, ('batch_requested', 'backward_began', 'forward_began', 'zero_grad_began'))):\n"
            "        for name in names:\n"
            "            setattr(owner, name, fail)\n"
            "    model(torch.zeros(1, 16)).sum().item()\n"
            "    torch.optim.lr_scheduler.StepLR(optimizer, 1)\n"
            "    torch.save(model.state_dict(), 'model.pt')\n"
            "    torch.manual_seed(1)\n"
            "    torch.randn(4, 16), torch.randn(4)\n"
            "    print(train(DataLoader(data, batch_size=32)))\n"
        )
        recorded = self.run_program(failing)
        self.assertEqual(recorded.stdout.splitlines()[0], plain.stdout.splitlines()[0])

    # A step that waits 40 ms in a function that releases the GIL, and computes for about as long without releasing it.
    _LINES = (
        "import threading, time, stepscope\n"
        "def compute(milliseconds):\n"
        "    end = time.thread_time() + milliseconds / 1000\n"
        "    while time.thread_time() < end: pass\n"
        "def steps():\n"
        "    for _ in range(12):\n"
        "        optimizer.zero_grad()\n"
        "        model(torch.zeros(8, 16)).sum().backward()\n"
        "        time.sleep(0.04)  # waits\n"
        "        compute(40)  # computes\n"
        "        optimizer.step()\n"
    )

    def time_of(self, trace, text):
        """Seconds of the program's line that contains the text, with what it calls."""
        with open(os.path.join(self.folder, "program.py"), encoding="utf-8") as file:
            number = next(number for number, line in enumerate(file, 1) if text in line)
        done = subprocess.run([CLI, "lines", "--json", trace], cwd=self.folder, capture_output=True, text=True, timeout=100)
        return sum(row["host_us"] for row in json.loads(done.stdout)["lines"] if row["line"] == number) / 1e6

    def assert_lines_have_their_time(self, trace):
        # The first step starts the samples when it ends.
        self.assertAlmostEqual(self.time_of(trace, "# waits"), 11 * 0.04, delta=0.15)
        self.assertGreater(self.time_of(trace, "# computes"), 11 * 0.04 * 0.7)

    def test_lines_of_a_loop_on_the_main_thread(self):
        self.run_program(self._LINES + "with stepscope.recording('run.sstrace', ops=False):\n    steps()\n")
        self.assert_lines_have_their_time("run.sstrace")

    def test_lines_of_a_loop_on_another_thread(self):
        self.run_program(
            self._LINES + "with stepscope.recording('run.sstrace', ops=False):\n"
            "    thread = threading.Thread(target=steps)\n    thread.start()\n    thread.join()\n"
        )
        self.assert_lines_have_their_time("run.sstrace")

    def test_lines_of_a_parent_whose_children_go_on(self):
        done = self.run_program(
            self._LINES + "import os\n"
            "with stepscope.recording('run.sstrace', ops=False):\n"
            "    steps()\n"
            "    child = os.fork()\n"
            "    if child == 0:\n"
            "        compute(100)\n"
            "        os._exit(7)\n"
            "    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
        )
        self.assertEqual(done.stdout.splitlines()[0], "7")
        self.assert_lines_have_their_time("run.sstrace")

    def test_two_code_objects_of_one_line(self):
        self.run_program(
            self._LINES + "made = compile('for _ in range(3): steps()\\n', 'program.py', 'exec'), "
            "compile('for _ in range(3): steps()\\n', 'program.py', 'exec')\n"
            "with stepscope.recording('run.sstrace', ops=False):\n"
            "    for code in made: exec(code)\n"
        )
        done = subprocess.run([CLI, "lines", "--json", "run.sstrace"], cwd=self.folder, capture_output=True, text=True, timeout=100)
        rows = [(row["file"], row["line"], row["function"]) for row in json.loads(done.stdout)["lines"]]
        self.assertEqual(len(rows), len(set(rows)))


if __name__ == "__main__":
    unittest.main()
