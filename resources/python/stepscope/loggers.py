"""Calls that log metrics, with their places and times: TensorBoard, Weights & Biases, MLflow, the loggers of Lightning
and of Accelerate. Within a recorded call, other loggers are not recorded: Lightning's logger calls TensorBoard's.
"""
import functools
import threading

from . import tracing
from .guard import guarded
from .syncs import add_time

_inside = threading.local()


def patch_tensorboard(module):
    """torch.utils.tensorboard.writer."""
    for name in ("add_scalar", "add_scalars", "add_histogram", "add_image", "add_images", "add_figure"):
        _patch_log(module.SummaryWriter, name, f"torch.utils.tensorboard.SummaryWriter.{name}")


def patch_wandb(module):
    """wandb.sdk.wandb_run."""
    _patch_log(module.Run, "log", "wandb.log")


def patch_mlflow(module):
    """mlflow.tracking.fluent, whose functions `mlflow` re-exports when its own module is executed after this one."""
    for name in ("log_metric", "log_metrics", "log_artifact", "log_artifacts", "log_image", "log_figure"):
        if hasattr(module, name):
            _patch_log(module, name, f"mlflow.{name}")


def patch_lightning(module):
    """The part of Lightning's Trainer that passes metrics to all of its loggers."""
    _patch_log(module._LoggerConnector, "log_metrics", "lightning.Trainer.log_metrics")


def patch_accelerate(module):
    """accelerate.accelerator."""
    _patch_log(module.Accelerator, "log", "accelerate.Accelerator.log")


def _patch_log(holder, name, written):
    log = getattr(holder, name)

    @functools.wraps(log)
    def recorded(*arguments, **named):
        if getattr(_inside, "on", False):
            return log(*arguments, **named)
        opened = _begins(written)
        _inside.on = True
        try:
            return log(*arguments, **named)
        finally:
            _inside.on = False
            if opened is not None:
                _ends(*opened)

    setattr(holder, name, recorded)


@guarded
def _begins(written):
    session = tracing.current()
    return session.facts.called("log", written), session.now()


@guarded
def _ends(entry, began):
    add_time(entry, began, tracing.current().now())
