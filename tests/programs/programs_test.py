"""Programs of others, and two of ours, from recording to patch and experiment, as a user would do it.

Usage: programs_test.py CLI [TEST ...]; run by a Python that has torch. Variables:

  STEPSCOPE_PROGRAMS_FOLDER  the folder with the programs as their authors published them: clones of pytorch/examples
                             (examples), karpathy/nanoGPT, karpathy/minGPT, karpathy/makemore and
                             huggingface/pytorch-image-models. Nothing is fetched. Without it their tests are skipped.
  STEPSCOPE_PROGRAMS_PYTHON  the interpreter that has what they import; otherwise the one that runs this
  STEPSCOPE_PROGRAMS_BUDGET  seconds of each experiment; otherwise 60
  STEPSCOPE_PROGRAMS_REPORT  a file to which one JSON object per program is appended: facts, findings, diff, verdict
"""
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from others import OTHERS, Program  # noqa: E402

CLI = os.path.abspath(sys.argv.pop(1))
HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.environ.get("STEPSCOPE_PROGRAMS_FOLDER", "")
PYTHON = os.environ.get("STEPSCOPE_PROGRAMS_PYTHON", sys.executable)
BUDGET = os.environ.get("STEPSCOPE_PROGRAMS_BUDGET", "60")
MOST_CANNOT_TELL = 8


# Package, options, and how loader.workers=2 is done.
FRAMEWORKS = {
    "lightning_fit": ("lightning", ["--size", "512"], "source"),
    "hf_trainer": ("transformers", ["--steps", "40", "--output", "{scratch}"], "source"),
    "accelerate_loop": ("accelerate", [], "argument"),
    "timm_loop": ("timm", [], "argument"),
    "fastai_fit": ("fastai", ["--size", "256"], "source"),
}


class Programs(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = scratch.name
        self.trace = os.path.join(self.scratch, "run.sstrace")
        self.report = {}

    def run_cli(self, *words, cwd, timeout=900, **variables):
        environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", **variables}
        return subprocess.run([CLI, *words], cwd=cwd, env=environment, capture_output=True, text=True, timeout=timeout)

    def status(self, folder):
        done = subprocess.run(["git", "status", "--porcelain", "--ignored"], cwd=folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line for line in done.stdout.splitlines() if "__pycache__" not in line]

    def check(self, program, folder):
        """The whole way. Returns the findings by their ids."""
        before = self.status(folder)
        command = program.command(PYTHON, os.path.join(self.scratch, "out"))
        findings = self.recorded(program, folder, command)
        patch = self.patched(program, folder)
        self.measured(program, folder)
        self.assertEqual(self.status(folder), before)
        self.report["clean"] = True
        return findings, patch

    def recorded(self, program, folder, command):
        done = self.run_cli("record", "-o", self.trace, "--ops", "--", *command, cwd=folder, **program.variables)
        self.assertTrue(done.returncode == 0 or program.seconds, done.stdout + done.stderr)
        facts = json.loads(self.run_cli("summarize", "--json", self.trace, cwd=folder).stdout)
        objects = facts["program"]["objects"]
        kinds = {entry["kind"] for entry in objects}
        self.report["facts"] = {kind: sum(entry["kind"] == kind for entry in objects) for kind in sorted(kinds)}
        self.report["steps"] = facts["steps"]["count"]
        self.assertLessEqual({"model", "backward"}, kinds)
        self.assertGreater(facts["steps"]["count"], 5)
        advice = json.loads(self.run_cli("advise", "--json", self.trace, cwd=folder).stdout)["advice"]
        unknown = {entry["id"]: entry["need_id"] for entry in advice if entry["state"] == "cannot tell"}
        self.report["cannot tell"] = sorted(unknown)
        self.report["rules"] = len(advice)
        self.assertLessEqual(len(unknown), MOST_CANNOT_TELL, unknown)
        self.assertTrue(all(need and need.startswith("need.") for need in unknown.values()), unknown)
        self.assertTrue(all(entry["need"] is None for entry in advice if entry["state"] != "cannot tell"))
        findings = {entry["id"]: entry for entry in advice if entry["state"] == "fires"}
        self.report["findings"] = {key: [place(site) for site in sites(entry)] for key, entry in findings.items()}
        for entry in findings.values():
            for site in sites(entry):
                self.assertTrue(os.path.exists(site["file"]), site)
        return findings

    def patched(self, program, folder):
        done = self.run_cli("patch", self.trace, "--set", program.change, "--python", PYTHON, "--json", cwd=folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        patch = json.loads(done.stdout)
        self.report["change"] = {"set": program.change, "how": patch["changes"][0]["how"], "command": patch["command"]}
        self.report["diff"] = patch["diff"]
        self.assertIn(patch["changes"][0]["how"], ("source", "argument", "hook"))
        if patch["diff"]:
            applies = subprocess.run(["patch", "--dry-run", "-p1", "-d", "/"], input=patch["diff"], capture_output=True, text=True)
            self.assertEqual(applies.returncode, 0, applies.stdout + applies.stderr)
        return patch

    def measured(self, program, folder):
        words = program.command(PYTHON, os.path.join(self.scratch, "out"), is_long=True)
        done = self.run_cli("experiment", "--trace", self.trace, "--set", program.change, "--budget", BUDGET, "--json", "--",
                            *words, cwd=folder, **program.variables)
        self.assertIn(done.returncode, (0, 1), done.stdout + done.stderr)
        answer = json.loads(done.stdout)
        self.report["verdict"] = {name: answer[name] for name in ("verdict", "why", "pairs")}
        self.report["verdict"]["step_us"] = answer["step_us"]
        self.assertTrue(answer["verdict"])
        self.assertEqual(answer["program"]["isolation"], "overlay")
        return answer

    def write_report(self, name):
        path = os.environ.get("STEPSCOPE_PROGRAMS_REPORT")
        if path:
            with open(path, "a", encoding="utf-8") as file:
                file.write(json.dumps({"program": name, **self.report}) + "\n")

    def copied(self, *names):
        """Files of this folder in a separate repository."""
        folder = os.path.join(self.scratch, "repository")
        os.makedirs(folder)
        for name in names:
            shutil.copy(os.path.join(HERE, name), folder)
        git = ["git", "-c", "user.name=test", "-c", "user.email=test@localhost"]
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "as it is"]):
            subprocess.run([*git, *words], cwd=folder, check=True, capture_output=True)
        return folder

    def check_ours(self, name, words, change, more_changes):
        folder = self.copied(f"ours/{name}.py")
        program = Program(".", [f"{name}.py", *words], change=change)
        findings, _ = self.check(program, folder)
        marked = marks(os.path.join(folder, f"{name}.py"))
        for key, line in marked.items():
            self.assertIn(key, list(findings))
            self.assertEqual([site["line"] for site in sites(findings[key])][:1], [line], key)
        # All at once: each marked line is changed, and nothing else.
        sets = [word for change in more_changes for word in ("--set", change)]
        answer = json.loads(self.run_cli("patch", self.trace, *sets, "--python", PYTHON, "--json", cwd=folder).stdout)
        self.assertEqual([row["how"] for row in answer["changes"]], ["source"] * len(more_changes))
        removed = {line[1:].rstrip() for line in answer["diff"].splitlines() if re.match(r"-[^-]", line)}
        with open(os.path.join(folder, f"{name}.py"), encoding="utf-8") as file:
            text = file.read().splitlines()
        self.assertLessEqual({line.partition("  # finding")[0].strip() for line in removed},
                             {line.partition("  # finding")[0].strip() for line in text})
        self.write_report("ours/" + name)

    def check_events(self, writer):
        """Two resident arms write event files: in the program's folder, next to those of the user's last run, and in a
        folder elsewhere that does not exist."""
        folder = self.copied("ours/events.py")
        earlier = os.path.join(folder, "runs", "loss")
        os.makedirs(earlier)
        with open(os.path.join(earlier, "events.out.tfevents.0000000001.here.7.0"), "wb") as file:
            file.write(b"the user's")
        before = self.status(folder), contents(folder)
        elsewhere = os.path.join(self.scratch, "elsewhere")
        path = os.path.join(folder, "events.py")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        diff = difflib.unified_diff(text.splitlines(True), text.replace("SECONDS = 0.012", "SECONDS = 0.004").splitlines(True),
                                    "a/events.py", "b/events.py")
        with open(os.path.join(self.scratch, "faster.diff"), "w", encoding="utf-8") as file:
            file.writelines(diff)
        done = self.run_cli("experiment", "--patch", file.name, "--budget", BUDGET, "--turn", "300", "--json", "--", PYTHON,
                            "events.py", "--writer", writer, "runs/loss", elsewhere, cwd=folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        result = json.loads(done.stdout)
        self.assertFalse(result["one_at_a_time"])
        self.assertEqual(result["program"]["isolation"], "overlay")
        self.assertGreaterEqual(result["pairs"], 6)
        self.assertGreater(result["step_us"]["ratio"], 1.2, result["why"])
        self.assertEqual((self.status(folder), contents(folder)), before)
        self.assertFalse(os.path.exists(elsewhere))


class OurPrograms(Programs):
    def test_pictures(self):
        self.check_ours("pictures", ["--epochs", "2"], "loader.workers=2", [
            "loader.workers=2", "debug.anomaly=false", "eval.no_grad=true", "model.conv_bias=false",
        ])

    def test_text(self):
        self.check_ours("text", ["--batch-size", "8"], "batch.size=16", [
            "optimizer.implementation=fused", "zero_grad.set_to_none=true",
        ])

    def test_events(self):
        self.check_events("stand-in")


class FrameworkPrograms(Programs):
    """A user's scripts for each framework, where the interpreter has it."""

    def test_tensorboard(self):
        if not _has("tensorboard"):
            self.skipTest(f"{PYTHON} has no tensorboard")
        self.check_events("tensorboard")


class OtherPrograms(Programs):
    """As their authors published them."""


def sites(entry):
    return [site for site in entry.get("source") or [] if isinstance(site, dict) and site.get("file")]


def place(site):
    return f"{os.path.basename(site['file'])}:{site['line']}"


def contents(folder):
    """The bytes of each file of a program's folder, without those of git."""
    found = {}
    for at, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in (".git", "__pycache__")]
        for name in names:
            with open(os.path.join(at, name), "rb") as file:
                found[os.path.relpath(file.name, folder)] = file.read()
    return found


def marks(path):
    """{finding: line} of the comments in a program of ours."""
    with open(path, encoding="utf-8") as file:
        found = ((re.search(r"# finding: (\S+)", line), number) for number, line in enumerate(file, 1))
        return {match.group(1): number for match, number in found if match}


def _has(package):
    done = subprocess.run([PYTHON, "-c", f"import importlib.util as u, sys; sys.exit(u.find_spec({package!r}) is None)"])
    return done.returncode == 0


def _add_tests():
    def framework_test(name, package, words, how):
        def test(self):
            if not _has(package):
                self.skipTest(f"{PYTHON} has no {package}")
            folder = self.copied(f"frameworks/{name}.py")
            longer = ("--steps", "100000") if name == "hf_trainer" else ("--epochs", "100")
            _, patch = self.check(Program(".", [f"{name}.py", *words], longer=longer), folder)
            self.assertEqual(patch["changes"][0]["how"], how)
            self.write_report("frameworks/" + name)

        return test

    def other_test(name, program):
        def test(self):
            place = os.path.join(FOLDER, program.place)
            if not FOLDER or not os.path.isdir(place):
                self.skipTest("STEPSCOPE_PROGRAMS_FOLDER names no folder with " + program.place)
            made = program.make(os.path.abspath(FOLDER)) if program.make else []
            for path in made:
                self.addCleanup(shutil.rmtree, path, True)
            self.check(program, place)
            self.write_report(name)

        return test

    for name, (package, words, how) in FRAMEWORKS.items():
        setattr(FrameworkPrograms, "test_" + name, framework_test(name, package, words, how))
    for name, program in OTHERS.items():
        setattr(OtherPrograms, "test_" + name, other_test(name, program))


_add_tests()

if __name__ == "__main__":
    unittest.main()
