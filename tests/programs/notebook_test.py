"""`%load_ext stepscope` and `%%stepscope` in a real IPython.

Usage: notebook_test.py CLI FOLDER_OF_THE_PACKAGE; run by a Python that has IPython and torch. Skips without them.
"""
import importlib.util
import io
import os
import sys
import tempfile
import unittest
from contextlib import redirect_stdout

CLI, PACKAGE = sys.argv[1:3]
del sys.argv[1:3]
os.environ["STEPSCOPE_CLI"] = CLI
sys.path.insert(0, PACKAGE)

_SETUP = """import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
data = TensorDataset(torch.randn(512, 16), torch.randint(0, 4, (512,)))
model = nn.Linear(16, 4)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=0.1)
"""
_TRAINING = """loader = DataLoader(data, batch_size=16)
for x, y in loader:
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
"""


@unittest.skipUnless(importlib.util.find_spec("IPython") and importlib.util.find_spec("torch"), "no IPython or no torch")
class NotebookTest(unittest.TestCase):
    def setUp(self):
        from IPython.core.interactiveshell import InteractiveShell

        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        before = os.getcwd()
        os.chdir(folder.name)
        self.addCleanup(os.chdir, before)
        self.shell = InteractiveShell.instance()

    def run_cell(self, text):
        out = io.StringIO()
        with redirect_stdout(out):
            self.assertTrue(self.shell.run_cell(text).success, out.getvalue())
        return out.getvalue()

    def test_a_cell_is_recorded_and_its_findings_are_shown(self):
        from stepscope import notebook

        self.run_cell("%load_ext stepscope")
        self.run_cell(_SETUP)
        said = self.run_cell("%%stepscope -o first.sstrace\n" + _TRAINING)
        self.assertIn("first.sstrace", said)
        self.assertTrue(os.path.exists("first.sstrace"))
        findings = notebook.read_findings("first.sstrace")
        by_id = {entry["id"]: entry for entry in findings.entries}
        # The optimizer of an earlier cell is known with its line.
        self.assertEqual(by_id["optimizer.kind"]["source"][0]["line"], 6)
        self.assertIn("this cell:6", repr(findings))
        self.assertIn("<li>", findings._repr_html_())
        # Once more: the same process is recorded again, and the variables of the first cell live on.
        self.run_cell("%%stepscope -o second.sstrace --no-ops\n" + _TRAINING + "count = len(loader)\n")
        self.assertEqual(self.shell.user_ns["count"], 32)
        self.assertTrue(os.path.exists("second.sstrace"))

    def test_an_unknown_option_is_named_and_the_cell_is_not_run(self):
        self.run_cell("%load_ext stepscope")
        self.run_cell("%%stepscope --all\nran = True")
        self.assertNotIn("ran", self.shell.user_ns)


if __name__ == "__main__":
    unittest.main()
