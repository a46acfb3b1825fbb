"""What each change does to a program's source, command line or hooks."""
import base64
import codecs
import json
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from change_support import FOLDER, Program, module, setting  # noqa: E402


class Patcher(unittest.TestCase):
    def program(self, text, name="train.py"):
        program = Program(text, name)
        self.addCleanup(program.close)
        return program

    def loader(self, text, settings=None, chain=(), name="DataLoader", index=0, **fields):
        return self.program(text).add("loader", name, index, chain, settings, role="training", **fields)

    def only_row(self, program, key, to):
        return program.answer({key: to})["changes"][0]


class Keywords(Patcher):
    def test_adds_a_keyword_after_the_last_argument(self):
        program = self.loader("loader = DataLoader(data, batch_size=4)  # train\n")
        self.assertEqual(program.new_text({"loader.workers": "4"}),
                         "loader = DataLoader(data, batch_size=4, num_workers=4)  # train\n")

    def test_workers_that_would_repeat_the_samples_of_a_stream_are_refused(self):
        def answer(value, sharded, now=0):
            program = self.loader("loader = DataLoader(data)\n", {"num_workers": setting(now, False)},
                                  dataset={"class": "Lines", "iterable": True, "sharded": sharded})
            return self.only_row(program, "loader.workers", value)

        refused = answer("2", False)
        self.assertEqual((refused["how"], refused["why_not"]["id"]), ("to read", "change.not_sharded"))
        for value, sharded, now in (("1", False, 0), ("2", True, 0), ("2", None, 0), ("3", False, 3), ("2", False, 3)):
            self.assertNotEqual((answer(value, sharded, now)["why_not"] or {}).get("id"), "change.not_sharded")

    def test_changes_the_keyword_that_is_there(self):
        program = self.loader("loader = DataLoader(data, num_workers = 0 , shuffle=True)\n")
        self.assertEqual(program.new_text({"loader.workers": "2"}),
                         "loader = DataLoader(data, num_workers = 2 , shuffle=True)\n")

    def test_changes_a_positional_argument(self):
        program = self.loader("loader = DataLoader(data, 4, True, None, None, 0)\n")
        self.assertEqual(program.new_text({"loader.workers": "3", "batch.size": "8"}),
                         "loader = DataLoader(data, 8, True, None, None, 3)\n")

    def test_keeps_lines_indentation_and_comments(self):
        text = ("def main():\n\tloader = DataLoader(\n\t\tdata,  # the samples\n\t\tbatch_size=4  # small\n\t)\n"
                "\tother = DataLoader(\n\t\tdata,\n\t\tbatch_size=4,  # small\n\t)\n")
        program = self.loader(text).add("loader", "DataLoader", 1, role="training")
        self.assertEqual(program.new_text({"loader.workers": "4"}),
                         "def main():\n\tloader = DataLoader(\n\t\tdata,  # the samples\n\t\tbatch_size=4,  # small\n"
                         "\t\tnum_workers=4\n\t)\n\tother = DataLoader(\n\t\tdata,\n\t\tbatch_size=4,  # small\n"
                         "\t\tnum_workers=4,\n\t)\n")

    def test_several_keywords_of_one_call(self):
        program = self.loader("x = DataLoader(data)\n", {"num_workers": setting(0, False)})
        text = program.new_text({"loader.pin_memory": "true", "loader.workers": "4", "loader.prefetch_factor": "4"})
        self.assertEqual(text, "x = DataLoader(data, num_workers=4, pin_memory=True, prefetch_factor=4)\n")

    def test_a_generator_without_brackets_of_its_own_gets_them(self):
        program = self.loader("x = DataLoader(d for d in data)\n")
        self.assertEqual(program.new_text({"loader.workers": "1"}), "x = DataLoader((d for d in data), num_workers=1)\n")

    def test_crlf_bom_encoding_and_no_final_line_end(self):
        data = codecs.BOM_UTF8 + "# Übung\r\nбатч = 'é'; loader = DataLoader(\r\n    данные,\r\n    4\r\n)".encode()
        program = self.loader(data)
        answer = program.answer({"loader.workers": "4"})
        self.assertEqual(base64.b64decode(answer["files"][0]["content"]),
                         data.replace(b"    4\r\n)", b"    4,\r\n    num_workers=4\r\n)"))
        latin = "# -*- coding: latin-1 -*-\nx = DataLoader('ä')\n".encode("latin-1")
        program = self.loader(latin)
        answer = program.answer({"loader.workers": "4"})
        self.assertEqual(base64.b64decode(answer["files"][0]["content"]), latin.replace(b"')", b"', num_workers=4)"))

    def test_starred_arguments(self):
        program = self.loader("args = (data, 4)\nx = DataLoader(*args, shuffle=True)\n")
        self.assertIn("DataLoader(*args, shuffle=True, num_workers=4)", program.new_text({"loader.workers": "4"}))
        program = self.loader("x = DataLoader(*args())\n", {"num_workers": setting(0)})
        self.assertEqual(self.only_row(program, "loader.workers", "4")["how"], "hook")


class Mappings(Patcher):
    def test_changes_the_value_where_the_dictionary_is_built_on_every_branch(self):
        text = ("kwargs = {'batch_size': 64}\nif cuda:\n    more = {'num_workers': 1,\n            'pin_memory': True}\n"
                "    kwargs.update(more)\nloader = torch.utils.data.DataLoader(data, **kwargs)\n")
        changed = self.loader(text).new_text({"loader.workers": "4"})
        self.assertEqual(changed, text.replace("'num_workers': 1", "'num_workers': 4")
                         .replace("64}", '64, "num_workers": 4}'))
        for cuda in (False, True):
            self.assertEqual(self.run_with(changed, cuda)["num_workers"], 4)

    def run_with(self, text, cuda):
        import types

        seen = {}
        torch = types.SimpleNamespace(utils=types.SimpleNamespace(data=types.SimpleNamespace(
            DataLoader=lambda data, **named: seen.update(named))))
        exec(text, {"torch": torch, "cuda": cuda, "data": None})
        return seen

    def test_conditional_dictionary(self):
        text = "kw = {'num_workers': 1, 'pin_memory': True} if cuda else {}\nx = DataLoader(data, **kw)\n"
        self.assertEqual(self.loader(text).new_text({"loader.workers": "4"}),
                         "kw = {'num_workers': 4, 'pin_memory': True} if cuda else {\"num_workers\": 4}\n"
                         "x = DataLoader(data, **kw)\n")

    def test_a_dictionary_that_never_has_the_key_leaves_the_call_to_be_changed(self):
        text = "kw = dict(shuffle=True)\nx = DataLoader(data, **kw)\n"
        self.assertEqual(self.loader(text).new_text({"loader.workers": "4"}),
                         "kw = dict(shuffle=True)\nx = DataLoader(data, **kw, num_workers=4)\n")

    def test_an_unknown_dictionary_is_overridden_once(self):
        text = "x = DataLoader(data, **config.loader, shuffle=True)\n"
        program = self.loader(text, {"num_workers": setting(0)})
        self.assertEqual(program.new_text({"loader.workers": "4", "loader.pin_memory": "true"}),
                         'x = DataLoader(data, **{**config.loader, "num_workers": 4, "pin_memory": True}, shuffle=True)\n')

    def test_a_dictionary_that_others_change_is_unknown(self):
        text = "kw = {}\nfill(kw)\nx = DataLoader(data, **kw)\n"
        self.assertIn('**{**kw, "num_workers": 4}', self.loader(text).new_text({"loader.workers": "4"}))


class Callers(Patcher):
    def test_wrapped_construction(self):
        text = "loader = accelerator.prepare(DataLoader(data, 4))\n"
        self.assertEqual(self.loader(text).new_text({"loader.workers": "4"}),
                         "loader = accelerator.prepare(DataLoader(data, 4, num_workers=4))\n")

    def test_a_factory_with_the_parameter_is_changed_at_its_call(self):
        text = ("def make(data, workers=0):\n    return DataLoader(data, num_workers=workers)\n\n"
                "train = make(a)\nvalid = make(b)\n")
        program = self.program(text)
        program.add("loader", "DataLoader", 0, [program.calls("make")[0]], role="training")
        self.assertEqual(program.new_text({"loader.workers": "4"}), text.replace("make(a)", "make(a, workers=4)"))

    def test_a_factory_without_it_is_changed_inside(self):
        text = "def make(data):\n    return DataLoader(data, 4)\n\nx = make(a)\n"
        program = self.program(text)
        program.add("loader", "DataLoader", 0, [program.calls("make")[0]], role="training")
        self.assertEqual(program.new_text({"loader.workers": "4"}), text.replace("(data, 4)", "(data, 4, num_workers=4)"))

    def test_a_subclass_that_hands_keywords_on(self):
        text = ("class Mine(DataLoader):\n    def __init__(self, data, **more):\n        super().__init__(data, **more)\n\n"
                "x = Mine(a, shuffle=True)\n")
        program = self.program(text)
        program.add("loader", "__init__", 0, [program.calls("Mine")[0]], role="training", **{"class": "__main__.Mine"})
        self.assertEqual(program.new_text({"loader.workers": "4"}), text.replace("shuffle=True", "shuffle=True, num_workers=4"))

    def test_a_function_of_a_library_is_not_given_arguments_that_it_may_not_take(self):
        program = self.loader("from lib import make_loader\nx = make_loader(data)\n", name="make_loader",
                              **{"class": "torch.utils.data.DataLoader"})
        row = self.only_row(program, "loader.workers", "4")
        self.assertEqual((row["how"], row["why_not"]["id"]), ("hook", "change.library"))

    def test_names_bound_to_the_class(self):
        text = "from torch.utils.data import DataLoader as Batches\nx = Batches(data)\n"
        program = self.loader(text, name="Batches", **{"class": "torch.utils.data.DataLoader"})
        self.assertIn("Batches(data, num_workers=4)", program.new_text({"loader.workers": "4"}))


class ConfigurationFile(Patcher):
    """Settings that the program reads from a configuration file are changed there."""

    def with_file(self, name, text, line, column, end_column, key="data.workers"):
        program = Program('x = DataLoader(d, num_workers=config["data"]["workers"])\n')
        self.addCleanup(program.close)
        path = program.add_file(name, text)
        program.facts["files"][-1]["configuration"] = True
        place = {"file": path, "line": line, "column": column, "end_column": end_column, "key": key}
        return program.add("loader", "DataLoader", settings={"num_workers": setting(0) | {"configuration": place}}), path

    def test_the_value_is_replaced_in_its_line(self):
        for name, text, line, column, wanted in (
            ("c.yaml", "data:\r\n  workers: 0   # of the loader\r\n  size: 3\r\n", 2, 11,
             "data:\r\n  workers: 4   # of the loader\r\n  size: 3\r\n"),
            ("c.json", '{"data": {"workers": 0, "ü": [0, {"workers": 0}]}}', 1, 21,
             '{"data": {"workers": 4, "ü": [0, {"workers": 0}]}}'),
            ("c.toml", "[data]\nworkers = 0\n[other]\nworkers = 0\n", 2, 10,
             "[data]\nworkers = 4\n[other]\nworkers = 0\n"),
        ):
            program, path = self.with_file(name, text, line, column, column + 1)
            answer = program.answer({"loader.workers": "4"})
            row = answer["changes"][0]
            self.assertEqual((row["how"], row["measurable"], row["why_not"]), ("source", True, None))
            self.assertEqual([(site["file"], site["line"]) for site in row["sites"]], [(path, line)])
            self.assertEqual([(file["path"], file["text"]) for file in answer["files"]], [(path, wanted)])
            self.assertIn("a/" + path.lstrip("/"), answer["diff"])

    def test_it_goes_along_with_changes_of_the_source(self):
        program, path = self.with_file("c.yaml", "data:\n  workers: 0\n", 2, 11, 12)
        answer = program.answer({"loader.workers": "2", "loader.pin_memory": "true"})
        texts = {file["path"]: file["text"] for file in answer["files"]}
        self.assertEqual(texts[path], "data:\n  workers: 2\n")
        self.assertEqual(texts[program.path], 'x = DataLoader(d, num_workers=config["data"]["workers"], pin_memory=True)\n')

    def test_a_value_that_is_there_is_none_to_change(self):
        program, _ = self.with_file("c.yaml", "data:\n  workers: 0\n", 2, 11, 12)
        row = self.only_row(program, "loader.workers", "0")
        self.assertEqual((row["how"], row["why_not"]["id"]), ("to read", "change.already"))

    def test_a_file_that_changed_since_is_left_alone(self):
        program, path = self.with_file("c.yaml", "data:\n  workers: 0\n", 2, 11, 12)
        with open(path, "a", encoding="utf-8") as file:
            file.write("# edited\n")
        answer = program.answer({"loader.workers": "2"})
        self.assertNotIn(path, [file["path"] for file in answer["files"]])


class CommandLine(Patcher):
    def with_argument(self, argv, argument, value=4):
        program = self.loader("x = DataLoader(d, num_workers=args.workers)\n",
                              {"num_workers": setting(value, True, argument["dest"])})
        program.facts["arguments"] = [argument]
        program.facts["argv"] = argv
        return program

    def test_an_option_that_reaches_the_setting_is_changed_instead(self):
        argument = {"dest": "workers", "options": ["-j", "--workers"], "value": 4, "default": 4, "type": "int"}
        start = ["python", "train.py"]
        for words, changed in (
            ([], ["--workers", "8"]),
            (["--workers", "4", "x"], ["--workers", "8", "x"]),
            (["--workers=4"], ["--workers=8"]),
            (["--work", "4"], ["--work", "8"]),
            (["-j4"], ["-j8"]),
            (["--", "x"], ["--workers", "8", "--", "x"]),
        ):
            answer = self.with_argument(start + words, argument).answer({"loader.workers": "8"})
            self.assertEqual(answer["command"], start + changed)
            self.assertEqual((answer["changes"][0]["how"], answer["diff"]), ("argument", ""))

    WORKERS = {"dest": "workers", "options": ["--workers"], "value": 4, "default": 4, "type": "int"}

    def test_only_words_behind_the_program_are_changed(self):
        """A launcher's options come first, and one of them may have the same name as the program's option."""
        for launcher in (
            ["python", "-u", "train.py"],
            ["./train.py"],
            ["uv", "run", "--", "python", "train.py"],
            ["uv", "run", "--workers", "1", "train.py"],
            ["conda", "run", "-n", "torch", "--no-capture-output", "python", "train.py"],
            ["torchrun", "--workers", "1", "--nproc-per-node=2", "train.py"],
            ["python", "-m", "torch.distributed.run", "--workers=1", "train.py"],
            ["accelerate", "launch", "--num_processes", "1", "train.py"],
            ["env", "A=b", "python", "train.py"],
        ):
            for words, changed in (([], ["--workers", "8"]), (["x", "--workers", "4"], ["x", "--workers", "8"])):
                program = self.with_argument(launcher + words, self.WORKERS)
                # The command that the launcher started.
                program.facts["argv"] = ["python", "-u", program.path, *words]
                answer = program.answer({"loader.workers": "8"}, argv=launcher + words)
                self.assertEqual(answer["changes"][0]["how"], "argument", launcher)
                self.assertEqual(answer["command"], launcher + changed)

    def test_modules_and_console_scripts(self):
        for launcher, module_name in (
            (["python", "-m", "pkg.train"], "pkg.train"),
            (["python", "-mpkg.train"], "pkg.train"),
            (["python", "-m", "pkg.__main__"], "pkg"),
            (["torchrun", "--workers", "1", "-m", "pkg.train"], "pkg.train"),
            (["accelerate", "launch", "--module", "pkg.train"], "pkg.train"),
            (["train-it"], None),
            (["uv", "run", "train-it"], None),
        ):
            program = self.with_argument(launcher, self.WORKERS)
            program.facts["module"] = module_name
            if module_name is None:
                program.facts["script"] = "/opt/venv/bin/train-it"
                program.facts["argv"] = ["/opt/venv/bin/python", "/opt/venv/bin/train-it"]
            answer = program.answer({"loader.workers": "8"}, argv=launcher)
            self.assertEqual(answer["command"], launcher + ["--workers", "8"])

    def test_a_script_that_is_the_command_gets_other_options_than_recorded(self):
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "train-it")
            with open(script, "w", encoding="utf-8") as file:
                file.write("#!/usr/bin/env python3\n")
            os.chmod(script, 0o755)
            with unittest.mock.patch.dict(os.environ, {"PATH": folder + os.pathsep + os.environ["PATH"]}):
                for word in ("train-it", script):
                    program = self.with_argument([word], self.WORKERS)
                    program.facts["script"] = script
                    program.facts["argv"] = ["/opt/venv/bin/python", script, "--epochs", "2"]
                    answer = program.answer({"loader.workers": "8"}, argv=[word, "--epochs", "200"])
                    self.assertEqual(answer["command"], [word, "--epochs", "200", "--workers", "8"])

    def test_what_may_not_reach_the_program_is_changed_in_its_source(self):
        for command in (
            ["bash", "train.sh"],
            ["./train.sh"],
            ["bash", "train.sh", "train.py"],
            ["sh", "-c", "python train.py"],
            ["sh", "-c", "exec python train.py \"$@\"", "--", "train.py"],
            ["make", "train"],
            ["./wrapper", "train.py", "--fast"],
            ["python", "-c", "import train"],
        ):
            program = self.with_argument(command, self.WORKERS)
            program.facts["argv"] = ["python", program.path]
            answer = program.answer({"loader.workers": "8"}, argv=command)
            self.assertEqual((answer["changes"][0]["how"], answer["command"]), ("source", None), command)
            self.assertIn("+x = DataLoader(d, num_workers=8)\n", answer["diff"])

    def test_an_unknown_command_that_hands_on_its_words_is_changed(self):
        program = self.with_argument([], self.WORKERS)
        program.facts["argv"] = ["python", program.path, "--fast"]
        answer = program.answer({"loader.workers": "8"}, argv=["./wrapper", "train.py", "--fast"])
        self.assertEqual(answer["command"], ["./wrapper", "train.py", "--fast", "--workers", "8"])

    def test_flags(self):
        command = module("command")
        flag = {"dest": "pin", "options": ["--pin"], "default": False, "type": None}
        self.assertEqual(command.set_option(["t.py"], flag, "true", 1), ["t.py", "--pin"])
        self.assertEqual(command.set_option(["t.py", "--pin", "x"], flag, "false", 1), ["t.py", "x"])
        both = {"dest": "pin", "options": ["--pin", "--no-pin"], "default": True, "type": "bool"}
        self.assertEqual(command.set_option(["t.py", "--pin"], both, "false", 1), ["t.py", "--no-pin"])

    def test_the_value_that_it_has_is_no_change(self):
        argument = {"dest": "workers", "options": ["--workers"], "value": 4, "default": 4, "type": "int"}
        row = self.only_row(self.with_argument(["python", "train.py"], argument), "loader.workers", "4")
        self.assertEqual(row["why_not"]["id"], "change.already")


LOOP = """import torch
from torch import nn

def train(model, loader, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        out = model(x)
        loss = nn.functional.cross_entropy(out, y)
        loss.backward()
        optimizer.step()

def validate(model, loader):
    model.eval()
    total = 0
    for x, y in loader:
        total += model(x).argmax(1).eq(y).sum().item()
    return total

def main():
    torch.manual_seed(1)
    model = nn.Linear(8, 2).to("cpu")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    train(model, data, optimizer)
"""


class Loops(Patcher):
    def loop(self, text=LOOP):
        program = self.program(text)
        program.add("forward", "model", 0, role="training").add("loss", "cross_entropy").add("backward", "backward")
        program.add("optimizer_step", "step").add("optimizer", "AdamW", settings={"lr": setting(1e-3)})
        program.add("validation", "model", 1, role="validation").add("zero_grad", "zero_grad")
        return program.add("model", "Linear", **{"class": "torch.nn.Linear"})

    def test_autocast_covers_forward_and_loss_and_nothing_else(self):
        self.assertEqual(self.loop().new_text({"precision.amp": "bf16"}), LOOP.replace(
            "        out = model(x)\n        loss = nn.functional.cross_entropy(out, y)\n",
            '        with torch.autocast(device_type="cpu", dtype=torch.bfloat16):\n            out = model(x)\n'
            "            loss = nn.functional.cross_entropy(out, y)\n"))

    def test_loss_and_backward_in_one_statement_leave_a_hook(self):
        program = self.program("for x in d:\n    model(x).sum().backward()\n")
        program.add("forward", "model", role="training")
        self.assertEqual(self.only_row(program, "precision.amp", "bf16")["how"], "hook")

    def test_fp16_scales_gradients(self):
        text = LOOP.replace("def train(model, loader, optimizer):\n", "def train(model, loader):\n    "
                            "optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)\n")
        text = text.replace("        optimizer.step()", "        nn.utils.clip_grad_norm_(model.parameters(), 1)\n        optimizer.step()")
        text = text.replace("    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)\n    train", "    train")
        changed = self.loop(text).add("clip", "clip_grad_norm_").new_text({"precision.amp": "fp16"})
        for line in ('    scaler = torch.amp.GradScaler("cpu")\n', "        scaler.scale(loss).backward()\n",
                     "        scaler.unscale_(optimizer)\n        nn.utils.clip_grad_norm_",
                     "        scaler.step(optimizer)\n        scaler.update()\n"):
            self.assertIn(line, changed)

    def test_fp16_without_a_place_for_the_scaler_leaves_a_hook(self):
        self.assertEqual(self.only_row(self.loop(), "precision.amp", "fp16")["how"], "hook")

    def test_no_grad_around_the_validation_loop(self):
        self.assertEqual(self.loop().new_text({"eval.no_grad": "true"}), LOOP.replace(
            "    for x, y in loader:\n        total +=", "    with torch.no_grad():\n        for x, y in loader:\n            total +="))

    def test_lines_of_strings_are_not_indented(self):
        text = 'import torch\nfor x in d:\n    out = model(x, """a\n  b\n""")\n    # note\n\n    print(f"""{\nout}""")\n'
        program = self.program(text).add("validation", "model", role="validation")
        changed = program.new_text({"eval.no_grad": "true"})
        self.assertIn('"""a\n  b\n"""', changed)
        self.assertIn("        # note\n\n", changed)

    def test_model_lines_follow_the_moves_of_the_model(self):
        text = LOOP.replace('    model = nn.Linear(8, 2).to("cpu")\n', "    model = nn.Linear(8, 2)\n    model = model.to(device)\n")
        changed = self.loop(text).new_text({"compile": "true", "memory_format": "channels_last", "cudnn.benchmark": "true"})
        self.assertIn("    model = model.to(device)\n    model = model.to(memory_format=torch.channels_last)\n"
                      "    model = torch.compile(model)\n", changed)
        self.assertIn("    torch.backends.cudnn.benchmark = True\n", changed)

    def test_a_program_that_saves_its_weights_keeps_their_names(self):
        changed = self.loop(LOOP + '    torch.save(model.state_dict(), "a.pt")\n').new_text({"compile": "true"})
        self.assertIn("    model.compile()\n", changed)

    def test_optimizer_and_zero_grad(self):
        program = self.loop(LOOP.replace("lr=1e-3)", "lr=1e-3, foreach=True)").replace("zero_grad()", "zero_grad(False)"))
        program.facts["objects"][4]["settings"]["foreach"] = setting(True)
        changed = program.new_text({"optimizer.implementation": "fused", "zero_grad.set_to_none": "true"})
        self.assertIn("lr=1e-3, foreach=False, fused=True)", changed)
        self.assertIn("zero_grad(True)", changed)

    def test_all_of_them_in_any_order(self):
        changes = [("precision.amp", "bf16"), ("eval.no_grad", "true"), ("compile", "true"), ("zero_grad.set_to_none", "true"),
                   ("optimizer.implementation", "fused"), ("precision.tf32", "true")]
        texts = {self.loop().new_text(order) for order in (changes, changes[::-1], changes[3:] + changes[:3])}
        self.assertEqual(len(texts), 1)

    def test_a_missing_import_is_added(self):
        program = self.program('"""Doc."""\nfrom __future__ import annotations\nfrom torch import nn\nfor x in d:\n    model(x)\n')
        program.add("validation", "model", role="validation")
        self.assertEqual(program.new_text({"eval.no_grad": "true"}),
                         '"""Doc."""\nfrom __future__ import annotations\nimport torch\nfrom torch import nn\n'
                         "with torch.no_grad():\n    for x in d:\n        model(x)\n")


class Others(Patcher):
    def test_non_blocking(self):
        program = self.program("x = x.to(device)\ny = y.cuda(0, False)\n").add("to", "to").add("to", "cuda")
        self.assertEqual(program.new_text({"transfer.non_blocking": "true"}),
                         "x = x.to(device, non_blocking=True)\ny = y.cuda(0, True)\n")

    def test_debug_tools_go(self):
        text = ("import torch\ntorch.autograd.set_detect_anomaly(True)\nif debug:\n    torch.autograd.set_detect_anomaly(True)\n"
                "with torch.autograd.detect_anomaly():\n    pass\nwith torch.autograd.profiler.emit_nvtx():\n    pass\n"
                "with torch.autograd.profiler.profile(use_cpu=True) as p:\n    pass\n"
                "with torch.profiler.profile() as q:\n    q.step()\nassert torch.autograd.gradcheck(f, x)\n")
        program = self.program(text)
        for index in (0, 1):
            program.add("anomaly", "set_detect_anomaly", index)
            program.add("profiler", "profile", index)
        program.add("anomaly", "detect_anomaly").add("emit_nvtx", "emit_nvtx")
        changed = program.new_text({"debug.anomaly": "false", "debug.emit_nvtx": "false", "debug.autograd_profiler": "false",
                                    "debug.gradcheck": "false"})
        self.assertEqual(changed, (
            "import torch\nif debug:\n    pass\nwith torch.autograd.set_detect_anomaly(False):\n    pass\n"
            "with torch.autograd.profiler.emit_nvtx(enabled=False):\n    pass\n"
            "with torch.autograd.profiler.profile(use_cpu=True, enabled=False) as p:\n    pass\n"
            "with torch.profiler.profile(schedule=lambda _: torch.profiler.ProfilerAction.NONE) as q:\n    q.step()\n"))

    def test_a_profiler_whose_result_is_used_is_left_to_a_hook(self):
        for text in ("with torch.profiler.profile() as p:\n    pass\nprint(p.key_averages())\n",
                     "import torch\nwith torch.autograd.profiler.profile() as p:\n    pass\nprint(p)\n"):
            program = self.program("import torch\n" + text).add("profiler", "profile")
            self.assertEqual(self.only_row(program, "debug.autograd_profiler", "false")["how"], "hook")

    def test_flags_that_the_program_sets_are_changed_where_they_are(self):
        text = "import torch\nfrom torch.backends import cudnn\ncudnn.benchmark = False\ntorch.set_float32_matmul_precision('highest')\n"
        self.assertEqual(self.program(text).new_text({"cudnn.benchmark": "true", "precision.tf32": "true"}),
                         text.replace("False", "True").replace("'highest'", '"high"'))

    def test_a_flag_that_is_set_under_a_condition_is_also_set_without_it(self):
        text = "import torch\nif seed is not None:\n    torch.backends.cudnn.benchmark = False\nmodel = Net()\n"
        program = self.program(text).add("model", "Net")
        self.assertEqual(program.new_text({"cudnn.benchmark": "true"}),
                         text.replace("False", "True") + "torch.backends.cudnn.benchmark = True\n")

    def test_conv_bias(self):
        text = ("from torch import nn\nclass Net(nn.Module):\n    def __init__(self):\n        self.conv = nn.Conv2d(3, 8, 3)\n"
                "        self.norm = nn.BatchNorm2d(8)\n        self.body = nn.Sequential(nn.Conv2d(8, 8, 3, bias=True), nn.BatchNorm2d(8))\n")
        program = self.program(text)
        program.facts["modules"] = [
            {"name": "", "class": "__main__.Net"}, {"name": "conv", "class": "torch.nn.Conv2d"},
            {"name": "body", "class": "torch.nn.Sequential"}, {"name": "body.0", "class": "torch.nn.Conv2d"}]
        program.facts["conv_bn"] = [{"conv": "conv", "bias": True}, {"conv": "body.0", "bias": True}]
        changed = program.new_text({"model.conv_bias": "false"})
        self.assertEqual(changed, text.replace("(3, 8, 3)", "(3, 8, 3, bias=False)").replace("bias=True", "bias=False"))

    def test_checkpointing_of_a_list_of_blocks(self):
        text = ("import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        for block in self.blocks:\n"
                "            x = block(x, self.mask)\n        return x\n")
        self.assertIn("x = torch.utils.checkpoint.checkpoint(block, x, self.mask, use_reentrant=False)\n",
                      self.program(text).new_text({"checkpointing": "all"}))

    def test_the_rate_follows_the_batch(self):
        program = self.loader("x = DataLoader(d, 32)\no = optim.SGD(p, 0.1)\n", {"batch_size": setting(32)})
        program.add("optimizer", "SGD", settings={"lr": setting(0.1)})
        self.assertEqual(program.new_text({"optimizer.lr_scaling": "linear", "batch.size": "64"}),
                         "x = DataLoader(d, 64)\no = optim.SGD(p, 0.2)\n")

    def test_frameworks_are_told_by_their_own_arguments(self):
        program = self.program("from lightning import Trainer\ntrainer = Trainer(max_epochs=1)\n")
        self.assertIn('Trainer(max_epochs=1, precision="bf16-mixed")', program.new_text({"precision.amp": "bf16"}))
        program = self.program("from transformers import TrainingArguments\na = TrainingArguments('out', fp16=True)\n")
        changed = program.new_text({"precision.amp": "bf16", "loader.workers": "4"})
        self.assertIn("TrainingArguments('out', fp16=False, bf16=True, dataloader_num_workers=4)", changed)

    def test_of_several_calls_of_a_framework_the_trainings_is_changed(self):
        text = "from timm.data import create_loader\ntrain = create_loader(a, num_workers=n)\ntest = create_loader(b, num_workers=n)\n"
        program = self.program(text).add("loader", "create_loader", 0, role="training", framework="timm")
        program.add("loader", "create_loader", 1, role="validation", framework="timm")
        self.assertEqual(program.new_text({"loader.workers": "4"}), text.replace("a, num_workers=n", "a, num_workers=4"))
        program.add("trainer", "create_loader", 0, settings={"num_workers": setting(2, True, "workers")})
        program.facts["arguments"] = [{"dest": "workers", "options": ["-j"], "value": 2, "default": 2, "type": "int"}]
        self.assertEqual(program.answer({"loader.workers": "4"})["command"], ["python", "train.py", "-j", "4"])

    def test_what_a_person_must_judge_is_proposed(self):
        program = self.program("total += loss.item()\n").add("sync", "item")
        row = self.only_row(program, "sync.every_n_steps", "10")
        self.assertEqual((row["how"], row["measurable"]), ("to read", False))
        self.assertIn("+total += loss.detach()", row["proposal"])
        row = self.only_row(program, "gradient.accumulation", "2")
        self.assertEqual((row["proposal"], row["why_not"]["id"]), (None, "change.no_site"))

    def test_workers_are_needed(self):
        program = self.loader("x = DataLoader(d)\n", {"num_workers": setting(0, False)})
        self.assertEqual(self.only_row(program, "loader.persistent_workers", "true")["why_not"]["id"], "change.needs_workers")

    def test_values_are_checked(self):
        program = self.loader("x = DataLoader(d)\n")
        for key, to in (("loader.workers", "many"), ("loader.workers", "-1"), ("precision.amp", "int8"), ("nothing", "1")):
            self.assertEqual(self.only_row(program, key, to)["how"], "to read")


class Answers(Patcher):
    def test_recorded_values_are_named(self):
        program = self.loader("x = DataLoader(d)\n", {"num_workers": setting(0, False), "pin_memory": setting(False, False)})
        rows = program.answer({"loader.workers": "4", "loader.pin_memory": "true", "compile": "true"})["changes"]
        self.assertEqual([row["from"] for row in rows], ["0", "false", None])

    def test_what_the_program_has_already_is_no_change(self):
        program = self.program("o.zero_grad()\n").add("zero_grad", "zero_grad", settings={"set_to_none": setting(True, False)})
        self.assertEqual(self.only_row(program, "zero_grad.set_to_none", "true")["why_not"]["id"], "change.already")
        program = self.program("x.to('cpu')\n").add("to", "to", settings={"device": setting("cpu")}, of="tensor")
        row = self.only_row(program, "transfer.non_blocking", "true")
        self.assertEqual((row["how"], row["why_not"]["id"]), ("to read", "change.no_object"))

    def test_each_change_by_itself(self):
        program = self.loader("x = DataLoader(d)\n")
        answer = program.answer([("loader.workers", "4"), ("loader.pin_memory", "true")], each=True)
        self.assertEqual([a["diff"].splitlines()[-1] for a in answer["answers"]],
                         ["+x = DataLoader(d, num_workers=4)", "+x = DataLoader(d, pin_memory=True)"])

    def test_only_copies_of_tensors_to_a_device_are_made_asynchronous(self):
        program = self.program("x = x.to(device)\nm = m.to(device)\ny = y.to('cpu')\n")
        program.add("to", "to", 0, settings={"device": setting("cuda:0")}, of="tensor", **{"from": "cpu"})
        program.add("to", "to", 1, settings={"device": setting("cuda:0")}, of="module")
        program.add("to", "to", 2, settings={"device": setting("cpu")}, of="tensor", **{"from": "cuda"})
        self.assertEqual(program.new_text({"transfer.non_blocking": "true"}),
                         "x = x.to(device, non_blocking=True)\nm = m.to(device)\ny = y.to('cpu')\n")


class Files(Patcher):
    def test_a_file_that_has_changed_is_refused(self):
        program = self.loader("x = DataLoader(d)\n")
        with open(program.path, "a") as file:
            file.write("# later\n")
        row = self.only_row(program, "loader.workers", "4")
        self.assertEqual((row["how"], row["why_not"]["id"]), ("hook", "change.file_changed"))

    def test_files_that_the_facts_do_not_name_are_not_read(self):
        program = self.loader("x = DataLoader(d)\n")
        program.facts["files"] = []
        self.assertEqual(self.only_row(program, "loader.workers", "4")["why_not"]["id"], "change.not_recorded")

    def test_another_folder_replaces_the_working_directory(self):
        program = self.loader("x = DataLoader(d)\n")
        other = self.program("x = DataLoader(d)\n")
        os.remove(program.path)
        answer = program.answer({"loader.workers": "4"}, root=other.root)
        self.assertEqual(answer["files"][0]["path"], program.path)

    def test_the_diff_applies(self):
        program = self.loader("# é\nx = DataLoader(d)")
        diff = program.answer({"loader.workers": "4"})["diff"]
        self.assertIn("-x = DataLoader(d)\n\\ No newline at end of file\n+x = DataLoader(d, num_workers=4)\n\\ No newline", diff)

    def test_syntax_errors_and_nonsense(self):
        program = self.loader("x = DataLoader(d)\n")
        program.facts["files"][0]["sha256"] = None
        with open(program.path, "w") as file:
            file.write("x = = 1\n")
        self.assertEqual(self.only_row(program, "loader.workers", "4")["why_not"]["id"], "change.cannot_parse")

    def test_as_a_program(self):
        program = self.loader("x = DataLoader(d)\n")
        request = {"schema": 1, "program": program.facts, "changes": [{"key": "loader.workers", "to": "4"}]}
        for text, expected in ((json.dumps(request), "changes"), ("[]", "error"), ("{", "error"), ('{"schema": 2}', "error")):
            done = subprocess.run([sys.executable, "-I", "-S", os.path.join(FOLDER, "__main__.py")], input=text.encode(),
                                  stdout=subprocess.PIPE, check=True)
            self.assertIn(expected, json.loads(done.stdout))


class Applied(Patcher):
    """Changes of files that already contain other changes of the same recording."""

    RECORDED = "x = DataLoader(d)\n"

    def applied(self, *changes, now):
        program = self.loader(self.RECORDED)
        with open(program.path, "w") as file:
            file.write(now)
        file = {"changes": [{"key": key, "to": to} for key, to in changes],
                "original": base64.b64encode(self.RECORDED.encode()).decode()}
        return program, {"files": {program.path: file}}

    def test_a_change_comes_on_top(self):
        program, applied = self.applied(("loader.workers", "4"), now="x = DataLoader(d, num_workers=4)\n")
        answer = program.answer({"loader.pin_memory": "true"}, applied=applied)
        self.assertEqual([row["key"] for row in answer["changes"]], ["loader.pin_memory"])
        self.assertEqual(base64.b64decode(answer["files"][0]["before"]).decode(), self.RECORDED)
        self.assertEqual(answer["files"][0]["text"], "x = DataLoader(d, num_workers=4, pin_memory=True)\n")
        self.assertIn("\n-x = DataLoader(d, num_workers=4)\n+x = DataLoader(d, num_workers=4, pin_memory=True)\n", answer["diff"])
        self.assertEqual(answer["applied"],
                         {"changes": [{"key": "loader.workers", "to": "4"}], "files": [program.path]})

    def test_an_applied_change_is_the_difference_that_it_makes(self):
        program, applied = self.applied(("loader.workers", "4"), ("loader.pin_memory", "true"),
                                        now="x = DataLoader(d, num_workers=4, pin_memory=True)\n")
        answer = program.answer({"loader.workers": "4"}, applied=applied)
        self.assertIn("\n-x = DataLoader(d, pin_memory=True)\n+x = DataLoader(d, num_workers=4, pin_memory=True)\n", answer["diff"])
        without = program.answer([], applied={**applied, "without": ["loader.workers"]})
        self.assertEqual(without["files"][0]["text"], "x = DataLoader(d, pin_memory=True)\n")
        self.assertEqual(without["diff"].splitlines()[-1], "+x = DataLoader(d, pin_memory=True)")

    def test_the_last_change_taken_out_leaves_the_recorded_file(self):
        program, applied = self.applied(("loader.workers", "4"), now="x = DataLoader(d, num_workers=4)\n")
        answer = program.answer([], applied={**applied, "without": ["loader.workers"]})
        self.assertEqual((answer["files"], answer["applied"]["files"]), ([], [program.path]))

    def test_files_that_were_edited_since_are_changed_files(self):
        program, applied = self.applied(("loader.workers", "4"), now="x = DataLoader(d, num_workers=5)\n")
        answer = program.answer({"loader.pin_memory": "true"}, applied=applied)
        self.assertEqual((answer["changes"][0]["why_not"]["id"], answer["applied"]), ("change.file_changed", None))

    def test_originals_of_another_recording_do_not_count(self):
        program, applied = self.applied(("loader.workers", "4"), now=self.RECORDED)
        answer = program.answer({"loader.pin_memory": "true"}, applied=applied)
        self.assertEqual((answer["files"][0]["text"], answer["applied"]), ("x = DataLoader(d, pin_memory=True)\n", None))

    def test_a_file_that_was_recorded_with_its_patch_is_the_original(self):
        text = "x = DataLoader(d, num_workers=4)\n"
        program = self.loader(text)
        file = {"changes": [{"key": "loader.workers", "to": "4"}], "original": base64.b64encode(b"x = 1\n").decode()}
        answer = program.answer({"loader.pin_memory": "true"}, applied={"files": {program.path: file}})
        self.assertEqual(base64.b64decode(answer["files"][0]["before"]).decode(), text)
        self.assertIsNone(answer["applied"])


class DiffsToRead(Patcher):
    LOOP = ("for x, y in loader:\n    optimizer.zero_grad()\n    loss = f(model(x), y)\n    loss.backward()\n"
            "    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n    optimizer.step()\n    log(loss)\n")

    def loop(self, text=LOOP):
        program = self.program("import torch\n" + text)
        for kind, name in (("zero_grad", "zero_grad"), ("backward", "backward"), ("optimizer_step", "step")):
            program.add(kind, name)
        return program

    def added(self, row):
        return [line[1:].strip() for line in row["proposal"].splitlines() if line.startswith("+") and not line.startswith("+++")]

    def test_gradient_accumulation(self):
        program = self.loop().add("clip", "clip_grad_norm_")
        row = self.only_row(program, "gradient.accumulation", "4")
        self.assertEqual((row["how"], row["measurable"]), ("to read", False))
        self.assertEqual(self.added(row), [
            "micro_batches = 0", "if micro_batches % 4 == 0:", "optimizer.zero_grad()", "(loss / 4).backward()",
            "micro_batches += 1", "if micro_batches % 4 == 0:", "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)",
            "if micro_batches % 4 == 0:", "optimizer.step()",
        ])

    def test_no_accumulation_where_the_loop_is_not_plain(self):
        with_scaler = self.loop().add("scaler", None)
        elsewhere = self.loop("for x, y in loader:\n    optimizer.zero_grad()\n    accelerator.backward(f(model(x), y))\n"
                              "    optimizer.step()\n")
        for program, value in ((with_scaler, "4"), (elsewhere, "4"), (self.loop(), "1")):
            row = self.only_row(program, "gradient.accumulation", value)
            self.assertEqual((row["proposal"], row["why_not"]["id"]), (None, "change.by_hand"))

    def test_checkpoints_are_saved_on_one_thread(self):
        program = self.program("import torch\ntorch.save(model.state_dict(), path)\n").add("save", "save")
        row = self.only_row(program, "host.async_work", "true")
        self.assertEqual(self.added(row), [
            "import concurrent.futures", "import copy",
            "checkpoint_writer = concurrent.futures.ThreadPoolExecutor(max_workers=1)",
            "checkpoint_writer.submit(torch.save, copy.deepcopy(model.state_dict()), path)"
            ".add_done_callback(lambda done: done.result())",
        ])
        program = self.program("import torch\ndone = torch.save(model, path)\n").add("save", "save")
        self.assertEqual(self.only_row(program, "host.async_work", "true")["why_not"]["id"], "change.by_hand")

    def test_attention_that_is_written_out(self):
        head = "import torch\ndef forward(q, k, v, mask):\n"
        for body, call in (
            ("    w = q @ k.transpose(-2, -1) / 8\n    w = torch.softmax(w, -1)\n    return w @ v\n", "(q, k, v)"),
            ("    w = torch.matmul(q, k.mT) / 8\n    w = w.masked_fill(mask, -1e9)\n    y = torch.softmax(w, -1) @ v\n    return y\n",
             "(q, k, v, attn_mask=MASK)"),
            ("    w = q @ k.mT\n    w = w + torch.ones(9, 9).triu(1)\n    w = torch.softmax(w, -1)\n    return torch.bmm(w, v)\n",
             "(q, k, v, is_causal=True)"),
        ):
            program = self.program(head + body)
            program.facts["attention"] = [{"kind": "written out", "count": 1, "site": program.calls("softmax")[0]}]
            row = self.only_row(program, "attention", "sdpa")
            self.assertIn("torch.nn.functional.scaled_dot_product_attention" + call, " ".join(self.added(row)))
            self.assertNotIn("softmax(", " ".join(self.added(row)))


if __name__ == "__main__":
    unittest.main()
