"""Cycles of optimizers, places of calls and options of the command line, without PyTorch: any Python from 3.9 on.

usage: facts_test.py FOLDER_OF_THE_MODULE [TEST]
"""
import argparse
import ast
import contextlib
import io
import json
import os
import sys
import tempfile
import types
import unittest

sys.path.insert(0, os.path.join(sys.argv.pop(1), ".."))
from stepscope import arguments, configs, hooks, loaders, sites  # noqa: E402
from stepscope.change import config_values  # noqa: E402
from stepscope.cycle import Cycle  # noqa: E402
from stepscope.facts import Facts  # noqa: E402
from stepscope.guard import guarded  # noqa: E402
from stepscope.steps import Steps  # noqa: E402

_PROGRAM = '''
def make(*parts, **named):
    return capture()

def main(args, options):
    first = make(
        [1, 2],
        workers=args.workers,  # of the loader
        **options,
    )
    ö = "ä"; second = make(batch=int(args.batch_size)); third = make(1)
    return first, second, third
'''


def ends(tokens, alone=False):
    """Where steps end in a sequence of optimizer steps: a | after each optimizer step that ends one."""
    cycle, found = Cycle(), []
    for token in tokens:
        found += cycle.add(token, alone) or []
    found += cycle.flush()
    return "".join("|" if each else "." for each in found)


class CycleTest(unittest.TestCase):
    def test_one_optimizer_ends_a_step_each_time(self):
        self.assertEqual(ends("AAAAA", alone=True), "|||||")
        self.assertEqual(ends("A" * 20), "|" * 20)

    def test_the_last_optimizer_of_a_cycle_ends_it(self):
        self.assertEqual(ends("DGDGDG"), ".|.|.|")
        self.assertEqual(ends("DDDDDG" * 3), ".....|" * 3)
        self.assertEqual(ends("DGGDGGDGG"), "..|..|..|")

    def test_a_cycle_that_an_epoch_cuts_goes_on(self):
        self.assertEqual(ends("DDG" * 3 + "D" + "DDG" * 2), "..|" * 3 + "...|" + "..|")

    def test_models_that_are_trained_one_after_another_have_steps_each(self):
        self.assertEqual(ends("A" * 6 + "B" * 6), "|" * 12)
        self.assertEqual(ends("A" * 30 + "B" * 30), "|" * 60)
        self.assertEqual(ends("A" * 30 + "DG" * 5), "|" * 30 + ".|" * 5)

    def test_a_program_of_one_cycle_has_one_step(self):
        self.assertEqual(ends("DG"), ".|")


class StepsTest(unittest.TestCase):
    def test_steps_on_the_only_batch_are_told_without_waiting_for_each(self):
        clock = [1000]
        ended = []
        session = types.SimpleNamespace(
            now=lambda: clock[0],
            complete=lambda kind, name, begin, end, number: ended.append((number, begin, end)),
            facts=types.SimpleNamespace(changed=False),
        )
        steps = Steps(session)
        optimizer = object.__new__(type("SGD", (), {}))
        steps.optimizer_made(optimizer)
        heard = []

        def wait(now):
            heard.append((now, steps.begun))
            clock[0] = now + 500  # as for a turn

        steps.listeners.append(wait)
        steps.batch_requested(0, 1)
        for number in range(1, 25):
            steps.training_began(10 * number - 5)
            steps.optimized(10 * number, optimizer)
        self.assertEqual(ended, [(number, 10 * number, 10 * number + 10) for number in range(24)])
        self.assertEqual(heard, [(240, 230)])
        steps.optimized(800, optimizer)
        self.assertEqual(ended[24:], [(24, 740, 800)])
        self.assertEqual(heard[1:], [(800, 740)])


class VersionsTest(unittest.TestCase):
    def names(self, python, torch):
        return [word for text in hooks.version_warnings(python, torch) for word in ("Python", "PyTorch") if f"with {word} {python if word == 'Python' else torch}." in text]

    def test_versions_that_were_not_run_are_named(self):
        self.assertEqual(self.names("3.9.1", "2.4.0"), [])
        self.assertEqual(self.names("3.14.2", "2.11.0+cu130"), [])
        self.assertEqual(self.names("3.8.18", "2.4.1+cpu"), ["Python"])
        self.assertEqual(self.names("3.15.0", "2.3.1"), ["Python", "PyTorch"])
        self.assertEqual(self.names("3.11.7", "3.0.0a0+git1234"), ["PyTorch"])
        self.assertEqual(self.names("of", "nobody"), [])


class GuardTest(unittest.TestCase):
    def test_an_error_of_a_hook_stays_in_it(self):
        @guarded
        def hook(value):
            return 1 // value

        out = io.StringIO()
        with contextlib.redirect_stderr(out):
            self.assertEqual([hook(1), hook(0), hook(0)], [1, None, None])
        self.assertEqual(out.getvalue().count("ZeroDivisionError"), 1)

    def test_an_interrupt_of_the_user_does_not(self):
        @guarded
        def hook():
            raise KeyboardInterrupt

        self.assertRaises(KeyboardInterrupt, hook)


class LoadersTest(unittest.TestCase):
    def test_loaders_of_others_have_their_batch_sizes(self):
        sampler = types.SimpleNamespace(batch_size=8)
        fastai = types.SimpleNamespace(bs=16, fake_l=None)
        for loader, size in (
            (types.SimpleNamespace(batch_size=4), 4),
            (types.SimpleNamespace(batch_size=None, batch_sampler=sampler), 8),
            (fastai, 16),
            (types.SimpleNamespace(), None),
        ):
            self.assertEqual(loaders.batch_size_of(loader), size)
        self.assertIs(loaders.owner_of(types.SimpleNamespace(default=fastai)), fastai)
        stranger = types.SimpleNamespace(default=3)
        self.assertIs(loaders.owner_of(stranger), stranger)


class SitesTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "program.py")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(_PROGRAM)
        module = types.ModuleType("program")
        module.capture = lambda: sites.capture(sys._getframe(2))
        exec(compile(_PROGRAM, self.path, "exec"), module.__dict__)
        options = types.SimpleNamespace(workers=3, batch_size=8)
        self.calls = module.main(options, {"drop_last": True})
        self.sources = sites.Sources()

    def tearDown(self):
        self.folder.cleanup()

    def site(self, number):
        return self.sources.site(self.calls[number].frames[0], ("make",))

    def test_a_call_over_several_lines_has_its_first_and_last(self):
        site = self.site(0)
        self.assertEqual((site["line"], site["end_line"]), (6, 10))
        self.assertEqual(site["column"], 12)
        self.assertEqual(site["file"], self.path)

    @unittest.skipIf(sys.version_info < (3, 11), "the interpreter tells no columns: see the next test")
    def test_columns_are_bytes_and_tell_calls_of_a_line_apart(self):
        second, third = self.site(1), self.site(2)
        line = _PROGRAM.split("\n")[second["line"] - 1].encode()
        self.assertEqual(line[second["column"] : second["end_column"]].decode(), "make(batch=int(args.batch_size))")
        self.assertEqual(line[third["column"] : third["end_column"]].decode(), "make(1)")

    def test_the_call_of_a_line_is_found_by_its_name(self):
        node = self.sources._call_of_line(self.path, 11, ("make",))
        self.assertEqual(ast.unparse(node), "make(batch=int(args.batch_size))")

    def test_what_a_call_passes_is_read_from_the_file(self):
        passed, starred = sites.argument_expressions(self.sources, self.site(0), ("data", "workers"))
        self.assertEqual(sorted(passed), ["data", "workers"])
        self.assertTrue(starred)

    def test_files_have_their_hash_and_lines(self):
        self.site(0)
        (file,) = self.sources.list()
        self.assertEqual(file["lines"], 12)
        self.assertEqual(len(file["sha256"]), 64)

    def test_library_files_are_not_the_users(self):
        self.assertFalse(sites.is_user_file(os.__file__))
        self.assertFalse(sites.is_user_file("/x/site-packages/torch/nn/module.py"))
        self.assertFalse(sites.is_user_file("<frozen importlib._bootstrap>"))
        self.assertTrue(sites.is_user_file(self.path))


class _Session:
    """The parts of a recording that the facts use."""

    is_recording = True

    def __init__(self):
        self.written = {}
        self.steps = types.SimpleNamespace(count=0, phases=[])

    def metadata(self, key, value):
        self.written[key] = value


class ConfigurationsTest(unittest.TestCase):
    """Values of configuration files, and which of them are passed to a call."""

    def keys(self, name, text):
        return {".".join(entry.keys): (entry.text, entry.line) for entry in config_values.entries(name, text)}

    def test_where_values_are_written(self):
        yaml = "data:\n  size: 3 # px\n  'name': \"a # b\"\nnote: |\n  size: 9\nsteps:\n- lr: 1e-3\n  list: [1, 2]\nempty:\n"
        self.assertEqual(self.keys("a.yml", yaml),
                         {"data.size": ("3", 2), "data.name": ('"a # b"', 3), "steps.lr": ("1e-3", 7)})
        json_text = '{"data": {"size": 3,\n "l": [1, {"x": true}]}, "s": "a, \\"b"}'
        self.assertEqual(self.keys("a.json", json_text),
                         {"data.size": ("3", 1), "data.l.x": ("true", 2), "s": ('"a, \\"b"', 2)})
        toml = 'top = 1\n[data.loader]\nsize = 3 # px\nlist = [1]\n[data]\nflag=true\n'
        self.assertEqual(self.keys("a.toml", toml),
                         {"top": ("1", 1), "data.loader.size": ("3", 3), "data.flag": ("true", 6)})
        self.assertEqual(self.keys("a.ini", "[data]\n; c\nsize: 3\n"), {"data.size": ("3", 3)})
        for name in ("a.yaml", "a.json", "a.toml"):
            self.assertEqual(self.keys(name, "\0{{[[\"\n: :\n- - -"), {})

    def test_a_value_is_written_as_the_file_writes_it(self):
        for text, value, wanted in (("3", 4, "4"), ("True", False, "False"), ("yes", False, "no"), ("'a'", "b", "'b'"),
                                    ("null", 2, "2"), ("null", True, "true"), ("1e-3", 0.5, "0.5")):
            self.assertEqual(config_values.rewritten(text, value), wanted)
        self.assertTrue(config_values.is_value("1e-3", 0.001) and config_values.is_value("yes", True))
        self.assertFalse(config_values.is_value("'3'", 3) or config_values.is_value("1", True) or config_values.is_value("a", 1))

    def place(self, expression, name, value, **files):
        with tempfile.TemporaryDirectory() as folder:
            known = configs.Configurations()
            for stem, text in files.items():
                path = os.path.join(folder, stem + ".yaml")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                known.add(path)
            expressions = [ast.parse(expression, mode="eval").body] if expression else []
            found = known.place(expressions, name, value)
            return found and (os.path.basename(found[0]), found[1].line)

    def test_the_place_of_a_setting(self):
        text = "train:\n  batch: 8\nval:\n  batch: 8\nlr: 0.1\n"
        for expression, name, value, wanted in (
            ('config["train"]["batch"]', "batch_size", 8, ("a.yaml", 2)),
            ("int(config.val.get('batch', 1))", "batch_size", 8, ("a.yaml", 4)),
            ("config.lr", "lr", 0.1, ("a.yaml", 5)),
            ("lr", "lr", 0.1, ("a.yaml", 5)),
            (None, "lr", 0.1, ("a.yaml", 5)),  # from **options
            ("config.batch", "batch_size", 8, None),  # one of the two
            ("config.train.batch", "batch_size", 16, None),  # overridden
            ("0.1", "lr", 0.1, None),
            ("config[0]", "lr", 0.1, None),
        ):
            self.assertEqual(self.place(expression, name, value, a=text), wanted, expression)
        self.assertIsNone(self.place("config.lr", "lr", 0.1, a="lr: 0.1\n", b="lr: 0.1\n"))
        self.assertIsNone(self.place("config.lr", "lr", 0.1))

    def test_parsers_say_what_they_read(self):
        import configparser

        with tempfile.TemporaryDirectory() as folder:
            known = configs.Configurations()
            module = types.SimpleNamespace(load=lambda source, *more: source)
            configs.patch_load(module, known)
            for name in ("a.yaml", "b.txt"):
                with open(os.path.join(folder, name), "w+", encoding="utf-8") as file:
                    module.load(file, 1)
            module.load("text: 1")
            path = os.path.join(folder, "c.ini")
            with open(path, "w", encoding="utf-8") as file:
                file.write("[a]\nlr = 0.1\n")
            parser = types.SimpleNamespace(RawConfigParser=type("Parser", (configparser.ConfigParser,), {}))
            configs.patch_configparser(parser, known)
            parser.RawConfigParser().read(path)
            words = types.SimpleNamespace(words=["python", "--config=" + os.path.join(folder, "d.json"), "e.json.gz"], list=lambda: [])
            known.add_words(words)
            self.assertEqual([os.path.basename(path) for path, _ in known.files()], ["a.yaml", "c.ini"])


class FactsTest(unittest.TestCase):
    def test_settings_name_the_option_that_their_value_came_from(self):
        module = types.ModuleType("program")
        session = _Session()
        facts = Facts(session)
        parser = argparse.ArgumentParser()
        arguments.patch_argparse(argparse, facts.arguments)
        parser.add_argument("--workers", "-j", type=int, default=2)
        parser.add_argument("--batch-size", type=int, default=8)
        parsed = parser.parse_args(["-j", "3"])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(_PROGRAM)
            module.capture = lambda: sites.capture(sys._getframe(2))
            exec(compile(_PROGRAM, path, "exec"), module.__dict__)
            first, second, _ = module.main(parsed, {})
            for call, settings in ((first, {"workers": 3}), (second, {"batch": 8, "other": 1})):
                entry = facts.add("loader", "program.make", call)
                entry.settings = settings
            facts.write()
        document = json.loads(session.written["program"])
        workers = document["objects"][0]["settings"]["workers"]
        self.assertEqual(workers, {"value": 3, "given": True, "argument": "workers"})
        if sys.version_info >= (3, 11):
            batch = document["objects"][1]["settings"]
            self.assertEqual(batch["batch"], {"value": 8, "given": True, "argument": "batch_size"})
            self.assertEqual(batch["other"], {"value": 1, "given": False, "argument": None})
        options = {entry["dest"]: entry for entry in document["arguments"]}
        self.assertEqual(options["workers"]["options"], ["--workers", "-j"])
        self.assertTrue(options["workers"]["given"])
        self.assertFalse(options["batch_size"]["given"])
        self.assertEqual(options["batch_size"]["default"], 8)

    def test_a_spawned_process_learns_the_command_line_unless_it_is_too_long_for_a_variable(self):
        known = arguments.Arguments()
        known.words = ["python", "train.py"]
        self.assertEqual(known.pass_to_spawned(arguments.Arguments).words, known.words)
        self.assertNotEqual(arguments.Arguments().words, known.words)
        known.words = ["python", "train.py", "x" * 200_000]
        self.assertNotEqual(known.pass_to_spawned(arguments.Arguments).words, known.words)

    def test_values_that_json_cannot_hold_are_texts(self):
        self.assertEqual(arguments.plain(float("nan")), "nan")
        self.assertEqual(arguments.plain([1, float("inf"), None]), [1, "inf", None])
        self.assertEqual(arguments.plain({1: object})["1"], "<class 'object'>")


if __name__ == "__main__":
    unittest.main()
