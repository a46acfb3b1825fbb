"""fastai: the Learner's arguments, and those of its loaders (which are fastai's own DataLoaders)."""
from . import flag, number

TRAINERS = {"fastai.learner": ("Learner",), "fastai.data.load": ("DataLoader",)}

ARGUMENTS = {
    "loader": {
        "num_workers": ("DataLoader", "num_workers"),
        "pin_memory": ("DataLoader", "pin_memory"),
        "persistent_workers": ("DataLoader", "persistent_workers"),
        "batch_size": ("DataLoader", "bs"),
    },
    "optimizer": {"class": ("Learner", "opt_func"), "lr": ("Learner", "lr"), "weight_decay": ("Learner", "wd")},
    "autocast": {"dtype": ("Learner", "to_fp16")},
    "clip": {"max_norm": ("Learner", "cbs")},
}

ROOTS = ("fastai",)
_LOADERS = {
    "loader.workers": [number("num_workers")],
    "loader.pin_memory": [flag("pin_memory")],
    "loader.persistent_workers": [flag("persistent_workers")],
    "batch.size": [number("bs")],
}
CALLS = {
    name: _LOADERS
    for name in (
        "from_dsets", "from_df", "from_csv", "from_folder", "from_lists", "from_name_func", "from_name_re",
        "from_path_func", "from_path_re", "from_label_func", "dataloaders",
    )
}
