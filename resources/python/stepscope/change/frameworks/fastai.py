"""fastai: the functions that make DataLoaders hand their keywords on to its loader, which names the batch differently."""
from . import flag, number

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
