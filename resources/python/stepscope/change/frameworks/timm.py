"""timm: create_loader() constructs the loader."""
from . import flag, number

ROOTS = ("timm",)
CALLS = {
    "create_loader": {
        "loader.workers": [number("num_workers")],
        "loader.pin_memory": [flag("pin_memory")],
        "loader.persistent_workers": [flag("persistent_workers")],
        "batch.size": [number("batch_size")],
    }
}
