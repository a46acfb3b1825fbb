"""Lightning: the loaders are the user's own; precision, backends and clipping are arguments of Trainer."""
from . import flag, number

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
