"""PyTorch Lightning: the Trainer's arguments. Loaders and optimizers are made by the user's own code."""

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
