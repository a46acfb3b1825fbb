"""Hugging Face Transformers: TrainingArguments, from which the Trainer creates its loaders and its optimizer."""
from . import flag, number

TRAINERS = {
    "transformers.training_args": ("TrainingArguments",),
    "transformers.trainer": ("Trainer",),
}

_ARGUMENTS = "TrainingArguments"

ARGUMENTS = {
    "loader": {
        "num_workers": (_ARGUMENTS, "dataloader_num_workers"),
        "pin_memory": (_ARGUMENTS, "dataloader_pin_memory"),
        "persistent_workers": (_ARGUMENTS, "dataloader_persistent_workers"),
        "prefetch_factor": (_ARGUMENTS, "dataloader_prefetch_factor"),
        "drop_last": (_ARGUMENTS, "dataloader_drop_last"),
        "batch_size": (_ARGUMENTS, "per_device_train_batch_size"),
    },
    "optimizer": {
        "class": (_ARGUMENTS, "optim"),
        "fused": (_ARGUMENTS, "optim"),
        "lr": (_ARGUMENTS, "learning_rate"),
        "weight_decay": (_ARGUMENTS, "weight_decay"),
        "backward_passes": (_ARGUMENTS, "gradient_accumulation_steps"),
    },
    "scheduler": {"class": (_ARGUMENTS, "lr_scheduler_type")},
    "clip": {"max_norm": (_ARGUMENTS, "max_grad_norm")},
    "autocast": {"dtype": (_ARGUMENTS, "bf16")},
    "flag": {"torch.backends.cuda.matmul.allow_tf32": (_ARGUMENTS, "tf32")},
    "compile": {"mode": (_ARGUMENTS, "torch_compile_mode"), "enabled": (_ARGUMENTS, "torch_compile")},
    "model": {"checkpointing": (_ARGUMENTS, "gradient_checkpointing")},
    "log": {"interval": (_ARGUMENTS, "logging_steps")},
    "save": {"interval": (_ARGUMENTS, "save_steps")},
}

ROOTS = ("transformers",)
_CHANGES = {
    "loader.workers": [number("dataloader_num_workers")],
    "loader.prefetch_factor": [number("dataloader_prefetch_factor")],
    "loader.persistent_workers": [flag("dataloader_persistent_workers")],
    "loader.pin_memory": [flag("dataloader_pin_memory")],
    "batch.size": [number("per_device_train_batch_size")],
    "precision.amp": [
        ("bf16", {"bf16": "True", "fp16": "False", "off": "False"}),
        ("fp16", {"bf16": "False", "fp16": "True", "off": "False"}),
    ],
    "precision.tf32": [flag("tf32")],
    "compile": [flag("torch_compile")],
    "checkpointing": [("gradient_checkpointing", {"all": "True", "off": "False"})],
    "optimizer.implementation": [("optim", {"fused": '"adamw_torch_fused"', "foreach": '"adamw_torch"', "for-loop": None})],
    "gradient.accumulation": [number("gradient_accumulation_steps")],
    "gradient.clip_norm": [number("max_grad_norm")],
    "optimizer.learning_rate": [number("learning_rate")],
    "optimizer.weight_decay": [number("weight_decay")],
}
CALLS = {name: _CHANGES for name in ("TrainingArguments", "Seq2SeqTrainingArguments")}
