"""Random sets of edits at real call sites, in random orders.

For each site, independent code in this test applies the meaning of the edits to the syntax tree, and compares the
result with the tree of the new text. All orders must give the same text; without the lines of the edits, the text must
be the original one.
"""
import ast
import copy
import os
import random
import sys
import sysconfig
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import corpus  # noqa: E402
from change_support import called, module, site_of  # noqa: E402

sys.setrecursionlimit(20000)
arguments, edits, table = module("arguments"), module("edits"), module("table")
Code, Source, Refusal = module("code").Code, module("source").Source, module("edits").Refusal

# (name, position of the parameter, value)
SETTINGS = [("num_workers", 5, "4"), ("batch_size", 1, "128"), ("pin_memory", 7, "True"), ("prefetch_factor", None, "8"),
            ("persistent_workers", None, "True")]


class Work:
    """The part of plan.Work that changes of arguments use, for one file."""

    def __init__(self, code):
        self._code = code
        self.edits = edits.Edits(code)

    def code(self, path):
        return self._code

    def edit(self, code, edit):
        self.edits.add(edit)


def calls_of(code, names):
    found = [node for node in ast.walk(code.tree) if isinstance(node, ast.Call) and called(node) in names]
    return sorted(found, key=lambda call: (call.end_lineno, call.end_col_offset))


def statements_of(code):
    return [node for node in ast.walk(code.tree) if isinstance(node, ast.stmt)]


def edits_at(code, call, choice):
    """Functions that each add one random edit: arguments of the call, lines around its statement, wraps."""
    site = site_of(code.source.path, call)
    added = []
    for name, position, value in choice.sample(SETTINGS, choice.randint(1, len(SETTINGS))):
        added.append(lambda work, n=name, p=position, v=value: arguments.set_argument(work, [site], n, p, v))
    statement = code.statement(call)
    if choice.random() < 0.5:
        added.append(lambda work: work.edit(code, edits.Insert(statement, "torch.backends.cudnn.benchmark = True", rank=0)))
        added.append(lambda work: work.edit(code, edits.Insert(statement, "model = torch.compile(model)", rank=1)))
    if choice.random() < 0.3:
        added.append(lambda work: work.edit(code, edits.Insert(code.first_import(), "import torch", before=True)))
    if choice.random() < 0.5:
        block = code.block(statement)
        first = block.index(statement)
        last = choice.randrange(first, len(block))
        added.append(lambda work: work.edit(code, edits.Wrap(statement, block[last], "with torch.no_grad():")))
        if choice.random() < 0.3:
            header = "with torch.autocast(device_type='cpu'):"
            added.append(lambda work: work.edit(code, edits.Wrap(statement, block[last], header)))
    if choice.random() < 0.4:
        removed = choice.choice(statements_of(code))
        inside = code.contains(removed, call) or code.contains(statement, removed)
        if not inside and isinstance(removed, (ast.Expr, ast.Assign, ast.Import)) and removed is not code.first_import():
            added.append(lambda work: work.edit(code, edits.Remove(removed)))
    return added


def rendered(code, added):
    """The text; edits that fail are skipped, as in a plan. Also returns the edits that worked."""
    try:
        work = Work(code)
        for add in added:
            add(work)
        return work.edits.render(), added
    except Refusal:
        pass
    work, done = Work(code), []
    for add in added:
        copy = Work(code)
        copy.edits = work.edits.copy()
        try:
            add(copy)
            copy.edits.render()
        except Refusal:
            continue
        work, done = copy, done + [add]
    return work.edits.render(), done


NEW_STATEMENTS = {
    ast.dump(ast.parse(text).body[0])
    for text in ("torch.backends.cudnn.benchmark = True", "model = torch.compile(model)", "import torch")
}
NEW_HEADERS = {
    ast.dump(ast.parse(text + " pass").body[0].items[0])
    for text in ("with torch.no_grad():", "with torch.autocast(device_type='cpu'):")
}
NAMES = {name for name, _, _ in SETTINGS}
# Calls with these names cannot be distinguished from those that edits add.
NEW_CALLS = {"autocast", "compile", "no_grad"}


class WithoutEdits(ast.NodeTransformer):
    """Removes what edits may have added: the edited file then has the original tree. The arguments of the changed calls
    are compared separately."""

    def __init__(self, names):
        self._names = names

    def visit(self, node):
        node = self.generic_visit(node)
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                block[:] = [part for statement in block for part in self._parts(statement)]
        if isinstance(node, ast.Dict):
            kept = [(k, v) for k, v in zip(node.keys, node.values) if not isinstance(k, ast.Constant) or k.value not in NAMES]
            node.keys, node.values = [k for k, _ in kept], [v for _, v in kept]
        if isinstance(node, ast.Call) and called(node) in self._names | {"dict"}:
            node.args, node.keywords = [], []
        return node

    @staticmethod
    def _parts(statement):
        if ast.dump(statement) in NEW_STATEMENTS:
            return []
        if isinstance(statement, ast.With) and len(statement.items) == 1 and ast.dump(statement.items[0]) in NEW_HEADERS:
            return statement.body
        return [statement]


def items_of(display):
    """Keys and values of a dictionary display, and of the displays that it unpacks; the key of anything else that it
    unpacks is None."""
    for key, value in zip(display.keys, display.values):
        if key is None and isinstance(value, ast.Dict):
            yield from items_of(value)
        else:
            yield key, value


def positions_of(call):
    """Places of the settings among the positional arguments: `Base.__init__(self, …)` passes the object first."""
    function = call.func
    is_of_class = isinstance(function, ast.Attribute) and function.attr == "__init__" and not isinstance(function.value, ast.Call)
    return {name: position + is_of_class for name, position, _ in SETTINGS if position is not None}


def arguments_of(call, names):
    """The arguments of a call, by name; dictionaries that it unpacks are expanded if they are displays. Edits of other
    calls among its arguments do not count."""
    call = WithoutEdits(names).generic_visit(copy.deepcopy(call))
    named, others = {}, []
    for keyword in call.keywords:
        if keyword.arg is not None:
            assert keyword.arg not in named, f"{keyword.arg} is passed twice"
            named[keyword.arg] = ast.dump(keyword.value)
        elif isinstance(keyword.value, ast.Dict):
            for key, value in items_of(keyword.value):
                if isinstance(key, ast.Constant):
                    named[key.value] = ast.dump(value)
                else:
                    others.append(ast.dump(value))
        else:
            others.append(ast.dump(keyword.value))
    return [ast.dump(value) for value in call.args], named, others


class Properties(unittest.TestCase):
    def setUp(self):
        self.tried = self.made = 0  # edits

    def check_call(self, before, after, names, where):
        """The arguments of a call afterwards: the new values, once, and everything else unchanged."""
        old_positional, old_named, old_others = arguments_of(before, names)
        positional, named, others = arguments_of(after, names)
        values = {name: ast.dump(ast.parse(value, mode="eval").body) for name, _, value in SETTINGS}
        positions = positions_of(before)
        index = {position: name for name, position in positions.items()}
        self.assertEqual(len(positional), len(old_positional), where)
        for place, (old, new) in enumerate(zip(old_positional, positional)):
            self.assertIn(new, (old, values.get(index.get(place))), where)
        for name, value in named.items():
            self.assertIn(value, (old_named.get(name), values.get(name)), where)
            if name not in old_named and name in NAMES:
                position = positions.get(name)
                starred = any("Starred(" == text[:8] for text in old_positional)
                self.assertTrue(position is None or starred or position >= len(old_positional), f"{name} twice: {where}")
        self.assertLessEqual(set(old_named), set(named), where)
        self.assertEqual(old_others, others, where)

    def check(self, path, data, call_index, names, seed):
        choice = random.Random(seed)
        code = Code(Source(path, data))
        call = calls_of(code, names)[call_index]
        added = edits_at(code, call, choice)
        text, done = rendered(code, added)
        self.tried += len(added)
        self.made += len(done)
        if not done:
            return 0
        where = f"{path}: call {call_index}, seed {seed}\n{text}"
        # Any order of the edits that work together gives the same text.
        for _ in range(2):
            choice.shuffle(done)
            again = Work(code)
            for add in done:
                add(again)
            self.assertEqual(again.edits.render(), text, where)
        # The bytes have the encoding of the old file; reading the file again gives the same text.
        reread = Source(path, code.source.encode(text))
        self.assertEqual(reread.text, text, where)
        removes = any(key[0] == "remove" for key in again.edits._edits)
        if not removes:
            trees = [WithoutEdits(names).visit(ast.parse(source.text)) for source in (code.source, reread)]
            self.assertEqual(ast.dump(trees[0]), ast.dump(trees[1]), where)
        # All calls have the same arguments as before, apart from the settings; new calls are those of the new lines.
        new_calls = [node for node in calls_of(Code(reread), names)]
        old_calls = calls_of(code, names)
        removed = len(old_calls) - len(new_calls)
        if removed == 0:
            for old, new in zip(old_calls, new_calls):
                self.check_call(old, new, names, where)
        self.check_comments(code, reread, where, removes)
        ends = [end for end in ("\r\n", "\n") if end in code.source.text]
        if ends == ["\r\n", "\n"] and "\n" not in code.source.text.replace("\r\n", ""):
            self.assertNotIn("\n", text.replace("\r\n", ""), where)
        return len(done)

    def check_comments(self, code, reread, where, may_lose):
        old = [token.text for token in code.source.tokens if token.is_comment]
        new = [token.text for token in reread.tokens if token.is_comment]
        if may_lose:
            missing = list(old)
            for text in new:
                self.assertIn(text, missing, where)
                missing.remove(text)
        else:
            self.assertEqual(old, new, where)

    def test_keywords_of_a_call_in_a_new_block_are_indented_with_it(self):
        code = Code(Source("train.py", b"loader = DataLoader(\n    data,\n    shuffle=True,\n)\n"))
        call = calls_of(code, {"DataLoader"})[0]
        work = Work(code)
        arguments.set_argument(work, [site_of(code.source.path, call)], "num_workers", 5, "4")
        statement = code.statement(call)
        work.edit(code, edits.Wrap(statement, statement, "with torch.no_grad():"))
        self.assertEqual(
            work.edits.render(),
            "with torch.no_grad():\n    loader = DataLoader(\n        data,\n        shuffle=True,\n"
            "        num_workers=4,\n    )\n",
        )

    def test_written_call_sites(self):
        sites, changed, started = 0, 0, time.process_time()
        # Every second sample, which takes a few seconds.
        for number, (name, data) in list(enumerate(corpus.samples()))[::2]:
            try:
                code = Code(Source("train.py", data))
            except Refusal as refusal:
                # Syntax of newer Python versions only, such as f-strings with the same quotes inside.
                self.assertIn("cannot be read as Python", refusal.text, name)
                continue
            for index in range(len(calls_of(code, {"DataLoader"}))):
                with self.subTest(name):
                    sites += 1
                    changed += self.check("train.py", data, index, {"DataLoader"}, number) > 0
        print(f"written: {changed} of {sites} sites, {self.made} of {self.tried} edits, {time.process_time() - started:.1f} s")
        self.assertGreater(sites, 400)
        self.assertGreater(self.made, 0.9 * self.tried)

    def test_call_sites_of_installed_packages(self):
        """Calls with keywords in the standard library and in other installed packages, and in the folders that
        STEPSCOPE_CORPUS names (torch, other people's programs): files chosen with a fixed seed, as many as a few
        seconds allow."""
        limit = 60 if os.environ.get("STEPSCOPE_CORPUS") else 2
        folders = [sysconfig.get_paths()["stdlib"], *sorted({sysconfig.get_paths()["purelib"], "/usr/lib/python3/dist-packages"})]
        folders += [folder for folder in os.environ.get("STEPSCOPE_CORPUS", "").split(os.pathsep) if folder]
        files = []
        for folder in folders:
            own = []
            for at, inner, names in os.walk(folder):
                inner[:] = [name for name in inner if name not in ("test", "tests", "idlelib", "lib2to3", "__pycache__")]
                own += [os.path.join(at, name) for name in names if name.endswith(".py")]
            files += random.Random(4).sample(sorted(own), min(len(own), 400))
        random.Random(5).shuffle(files)
        sites, changed, started = 0, 0, time.process_time()
        for number, path in enumerate(files):
            if time.process_time() - started > limit:
                break
            with open(path, "rb") as file:
                data = file.read()
            if len(data) > 40000:
                continue
            try:
                code = Code(Source(path, data))
            except Refusal:
                continue  # files for other Python versions, templates
            calls = (node for node in ast.walk(code.tree) if isinstance(node, ast.Call) and node.keywords)
            names = sorted({called(node) for node in calls} - NEW_CALLS)
            if not names:
                continue
            choice = random.Random(number)
            name = choice.choice(names)
            index = choice.randrange(len(calls_of(code, {name})))
            with self.subTest(path):
                sites += 1
                changed += self.check(path, data, index, {name}, number) > 0
        print(f"installed: {changed} of {sites} sites, {self.made} of {self.tried} edits, {time.process_time() - started:.1f} s")
        self.assertGreater(sites, 10)
        self.assertGreater(self.made, 0.8 * self.tried)


if __name__ == "__main__":
    unittest.main()
