"""PyTorch Lightning: the Trainer's arguments. Loaders and optimizers are created by the user's own code."""
from . import flag, number

_TRAINER = ("Trainer",)

TRAINERS = {
    "lightning.pytorch.trainer.trainer": _TRAINER,
    "pytorch_lightning.trainer.trainer": _TRAINER,
    "lightning.fabric.fabric": ("Fabric",),
}

ARGUMENTS = {
    "autocast": {"dtype": ("Trainer", "precision"), "enabled": ("Trainer", "precision")},
    "clip": {"max_norm": ("Trainer", "gradient_clip_val"), "clip_value": ("Trainer", "gradient_clip_val")},
    "anomaly": {"mode": ("Trainer", "detect_anomaly")},
    "flag": {"torch.backends.cudnn.benchmark": ("Trainer", "benchmark")},
    "optimizer": {"backward_passes": ("Trainer", "accumulate_grad_batches")},
    "data_parallel": {"kind": ("Trainer", "strategy")},
}

ROOTS = ("lightning", "pytorch_lightning")
CALLS = {
    "Trainer": {
        "precision.amp": [("precision", {"bf16": '"bf16-mixed"', "fp16": '"16-mixed"', "off": '"32-true"'})],
        "cudnn.benchmark": [flag("benchmark")],
        "debug.anomaly": [flag("detect_anomaly")],
        "gradient.accumulation": [number("accumulate_grad_batches")],
        "gradient.clip_norm": [number("gradient_clip_val")],
    }
}
