"""Hugging Face Transformers: everything is an argument of TrainingArguments, and often an option of the command line."""
from . import flag, number

ROOTS = ("transformers",)
_ARGUMENTS = {
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
    "optimizer.implementation": [("optim", {"fused": '"adamw_torch_fused"', "foreach": '"adamw_torch"', "plain": None})],
    "gradient.accumulation": [number("gradient_accumulation_steps")],
    "gradient.clip_norm": [number("max_grad_norm")],
    "optimizer.learning_rate": [number("learning_rate")],
    "optimizer.weight_decay": [number("weight_decay")],
}
CALLS = {name: _ARGUMENTS for name in ("TrainingArguments", "Seq2SeqTrainingArguments")}
