"""Call sites in the styles of training scripts: every kind of call, each in every surrounding.

A sample is (name, bytes of a file, name of the called function). The test decides which of its calls is changed.
"""

# The calls, with the arguments in each style. {a}: another argument of the same call, for variety.
CALLS = [
    "DataLoader(data)",
    "DataLoader(data, batch_size=64, shuffle=True)",
    "DataLoader(data, 64, True)",
    "DataLoader(dataset=data, batch_size=64, num_workers=2, pin_memory=False)",
    "DataLoader(data, num_workers = 0,batch_size = 4 )",
    "DataLoader(\n    data,\n    batch_size=64,\n    shuffle=True,\n)",
    "DataLoader(\n    data,\n    batch_size=64,  # fits into 16 GB\n    shuffle=True  # no comma\n)",
    "DataLoader(\n    data, batch_size=64,\n    shuffle=True)",
    "DataLoader(data, batch_size=64,\n           shuffle=True,\n           collate_fn=lambda rows: [r for r in rows])",
    "DataLoader(data,\n\t\t# how many at once\n\t\tbatch_size=64,\n\t\t# in parallel\n\t\tnum_workers=(\n\t\t\t2\n\t\t))",
    "torch.utils.data.DataLoader(data, **kwargs)",
    "torch.utils.data.DataLoader(data, **{'batch_size': 4, 'num_workers': 1})",
    "torch.utils.data.DataLoader(data, shuffle=True, **config['loader'])",
    "torch.utils.data.DataLoader(data, **self.options(),)",
    "DataLoader(*parts)",
    "DataLoader(*[data, 64], shuffle=False)",
    "DataLoader(data, *rest, shuffle=False)",
    "DataLoader(sample for sample in data)",
    "DataLoader((sample for sample in data), batch_size=8)",
    "DataLoader([x for x in data if x], batch_size=max(1, n // 2), num_workers=os.cpu_count() or 1)",
    "DataLoader(data, batch_size=64 if cuda else 8, num_workers=4 if cuda else 0)",
    "DataLoader(TensorDataset(torch.zeros(4, 2), torch.ones(4)), 2)",
    "DataLoader(load('train, valid) #'), batch_size=2, sampler=S(')'))",
    "DataLoader(data, batch_size=64, worker_init_fn=lambda n: seed(n, *more, **named))",
    "DataLoader(\n    данные,  # вход\n    batch_size=64,\n    имя='é, ü (x'\n)",
    'DataLoader(data, name=f"{n}: ({m!r:>{w}})", batch_size=2)',
    'DataLoader(data, note="""two\n   lines, (""", batch_size=2)',
    "DataLoader(data, batch_size=(yield))",
    "DataLoader(data)[0].dataset",
    "DataLoader(data, batch_size=2) or None",
    "wrap(DataLoader(data, batch_size=2), prepare(DataLoader(data)))",
    "accelerator.prepare(model, optimizer, DataLoader(\n    data, 4\n))",
    "[DataLoader(part, batch_size=4) for part in parts if part]",
    "{name: DataLoader(part, 4, num_workers=1) for name, part in parts.items()}",
    "(lambda d: DataLoader(d, batch_size=2))(data)",
    "DataLoader(data, batch_size=2) if data else DataLoader(other)",
    "partial(DataLoader, batch_size=2)(data)",
]

# The surroundings of the call: {} is the call, as an expression.
SURROUNDINGS = [
    ("statement", "{}\n"),
    ("assignment", "import torch\nloader = {}  # a comment\nprint(loader)\n"),
    ("annotated", "loader: 'DataLoader' = {}\n"),
    ("tuple", "train, valid = {}, None\n"),
    ("function", "def make(data, kwargs=None, *, n=2, **more):\n    '''Doc.'''\n    return {}\n\nmake(1)\n"),
    ("default", "def make(data=1, loader=({})):\n    return loader\n"),
    ("generator", "def make(data, cuda):\n    if cuda:\n        yield {}\n    else:\n        yield None\n"),
    ("async", "async def make(data):\n    async with lock:\n        return {}\n"),
    ("decorated", "@hydra.main(config_path='conf', version_base=None)\n@torch.no_grad()\ndef main(cfg) -> None:\n    x = {}\n"),
    ("method", "class Module(Base):\n    def train_dataloader(self):\n        return {}\n\n    @property\n    def x(self): return 1\n"),
    ("main", "def main():\n    pass\n\n\nif __name__ == '__main__':\n    loader = {}\n    main()\n"),
    ("tabs", "def main():\n\tif True:\n\t\tloader = {}\n\t\tfor x in loader:\n\t\t\tprint(x)\n"),
    ("loop", "for epoch in range(3):\n    for i, (x, y) in enumerate({}):\n        step(x)  # each\n    else:\n        pass\n"),
    ("with", "with torch.no_grad(), timer('x') as t:\n    loader = {}\n"),
    ("try", "try:\n    loader = {}\nexcept (OSError, ValueError) as error:\n    raise SystemExit(1) from error\nfinally:\n    done()\n"),
    ("one line", "if cuda: loader = {}; print('two')\n"),
    ("semicolons", "a = 1; loader = {}; b = 2\n"),
    ("no line end", "loader = {}"),
    ("notebook", "# %%\n# In[1]:\n\nimport torch\nget_ipython().run_line_magic('matplotlib', 'inline')\n\n# In[2]:\n\nloader = {}\nlen(loader)\n\n# %% [markdown]\n# Text\n"),
    ("form feed", "import torch\n\x0c\nloader = {}\n\x0c\n"),
    ("continued", "loader = \\\n    {}\n"),
    ("mapping", "kwargs = {{'batch_size': 64}}\nif cuda:\n    kwargs.update({{'num_workers': 1, 'pin_memory': True}})\nself = config = None\nloader = {}\n"),
]

# Statements before and after, to wrap, to remove and to insert at.
AROUND = [
    ("", ""),
    ("#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n\"\"\"Übung — 訓練.\"\"\"\nfrom __future__ import annotations\nimport os, sys\n",
     "\n\nclass Net:\n    x = 1\n\n    def forward(self, x):\n        # first\n        y = self.a(x)\n\n        z = '''\n  text\n'''\n        return y\n"),
    ("import torch\ntorch.autograd.set_detect_anomaly(True)\n",
     "\nwhile True:\n    loss = f(x)  ;  loss.backward()\n    break\n"),
]


def samples():
    """(name, bytes) of every call in every surrounding, cycling through line ends and encodings."""
    number = 0
    for call in CALLS:
        for name, surrounding in SURROUNDINGS:
            before, after = AROUND[number % len(AROUND)]
            line = next(line for line in surrounding.splitlines() if "{}" in line)
            indent = line[: len(line) - len(line.lstrip())]
            body = surrounding.format(_indented(call, indent))
            if name in ("notebook", "no line end") or "__future__" in before and "__future__" in body:
                before, after = "", ""
            text = before + body + after
            number += 1
            yield f"{name}: {call[:40]!r} #{number}", _encoded(text, number)


def _indented(call, indent):
    """Lines of the call as written in a block; lines inside strings stay unchanged."""
    return call if '"""' in call else call.replace("\n", "\n" + indent)


def _encoded(text, number):
    if number % 5 == 1:
        text = text.replace("\n", "\r\n")
    if number % 11 == 2 and not text.startswith("#!"):
        return b"\xef\xbb\xbf" + text.encode("utf-8")
    if number % 7 == 3 and all(ord(letter) < 256 for letter in text):
        return ("# coding: latin-1\n" + text).encode("latin-1")
    return text.encode("utf-8")
