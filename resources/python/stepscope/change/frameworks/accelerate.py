"""Hugging Face Accelerate: loaders, optimizer and loop are the user's own; precision is an argument of Accelerator."""
from . import number

ROOTS = ("accelerate",)
CALLS = {
    "Accelerator": {
        "precision.amp": [("mixed_precision", {"bf16": '"bf16"', "fp16": '"fp16"', "off": '"no"'})],
        "gradient.accumulation": [number("gradient_accumulation_steps")],
    }
}
