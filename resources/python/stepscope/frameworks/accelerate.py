"""Hugging Face Accelerate: the Accelerator's arguments. Loaders and optimizers are the user's own, and wrapped."""

TRAINERS = {"accelerate.accelerator": ("Accelerator",)}

ARGUMENTS = {
    "autocast": {"dtype": ("Accelerator", "mixed_precision"), "enabled": ("Accelerator", "mixed_precision")},
    "optimizer": {"backward_passes": ("Accelerator", "gradient_accumulation_steps")},
    "compile": {"mode": ("Accelerator", "dynamo_backend")},
}
