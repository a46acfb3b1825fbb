"""fastai: the Learner's arguments, and those of its loaders (which are DataLoaders of fastai's own)."""

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
