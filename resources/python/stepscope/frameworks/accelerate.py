"""Hugging Face Accelerate: the Accelerator's arguments. The user's own loaders and optimizers are wrapped."""
from . import number

TRAINERS = {"accelerate.accelerator": ("Accelerator",)}

ARGUMENTS = {
    "autocast": {"dtype": ("Accelerator", "mixed_precision"), "enabled": ("Accelerator", "mixed_precision")},
    "optimizer": {"backward_passes": ("Accelerator", "gradient_accumulation_steps")},
    "compile": {"mode": ("Accelerator", "dynamo_backend")},
}

ROOTS = ("accelerate",)
CALLS = {
    "Accelerator": {
        "precision.amp": [("mixed_precision", {"bf16": '"bf16"', "fp16": '"fp16"', "off": '"no"'})],
        "gradient.accumulation": [number("gradient_accumulation_steps")],
    }
}
