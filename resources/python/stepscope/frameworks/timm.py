"""timm: functions that create loaders and optimizers from command-line arguments."""
from . import flag, number

TRAINERS = {
    "timm.data.loader": ("create_loader",),
    "timm.optim._optim_factory": ("create_optimizer_v2",),
    "timm.optim.optim_factory": ("create_optimizer_v2",),
    "timm.scheduler.scheduler_factory": ("create_scheduler_v2",),
}

ARGUMENTS = {
    "loader": {
        "num_workers": ("create_loader", "num_workers"),
        "pin_memory": ("create_loader", "pin_memory"),
        "persistent_workers": ("create_loader", "persistent_workers"),
        "batch_size": ("create_loader", "batch_size"),
    },
    "optimizer": {
        "class": ("create_optimizer_v2", "opt"),
        "lr": ("create_optimizer_v2", "lr"),
        "weight_decay": ("create_optimizer_v2", "weight_decay"),
        "foreach": ("create_optimizer_v2", "foreach"),
    },
    "scheduler": {"class": ("create_scheduler_v2", "sched")},
}

ROOTS = ("timm",)
CALLS = {
    "create_loader": {
        "loader.workers": [number("num_workers")],
        "loader.pin_memory": [flag("pin_memory")],
        "loader.persistent_workers": [flag("persistent_workers")],
        "batch.size": [number("batch_size")],
    }
}
