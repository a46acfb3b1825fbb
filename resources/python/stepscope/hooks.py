"""Hooks into PyTorch, installed when its modules are imported: nothing is imported that the program does not import.

`_patches` lists each module that has hooks, with the function that installs them. If a hook does not fit (another
version of a library), it is skipped with a note, and the program still runs.
"""
import atexit
import functools
import importlib
import importlib.abc
import os
import sys

from . import arguments, arm, configs, patience, steps, tracing, trainers, windows
from .guard import guarded


def install():
    """Called once in each Python process that is recorded or takes part in an experiment, before the program's first
    line."""
    session = tracing.start()
    if session is None:
        return
    session.steps.recorded = windows.recorded_steps(session)
    if session.always_on is not None:
        atexit.register(session.always_on.stepscope_end)  # the library's own end, after program_ends()
    atexit.register(program_ends, session)
    _put_in(session)


def install_late():
    """Installs the hooks, once, in a process that was not started by a recording (part.py), for everything that the
    program has imported and created so far."""
    if _installed:
        return
    session = tracing.current()
    _put_in(session)
    _register_existing(session)


@guarded
def _register_existing(session):
    """Registers objects that were created before, at unknown places."""
    import gc

    torch = sys.modules.get("torch")
    if torch is None:
        return
    from . import loaders, optimizers

    data = sys.modules.get("torch.utils.data.dataloader")
    for instance in gc.get_objects():
        kind = type(instance)
        if issubclass(kind, torch.nn.Module):
            session.models.module_found(instance)
        elif issubclass(kind, torch.optim.Optimizer):
            optimizers.optimizer_found(instance)
        elif data is not None and issubclass(kind, data.DataLoader):
            session.facts.add("loader", loaders.class_name(kind), None, instance)
    session.models.attach()


_installed = False


def _put_in(session):
    global _installed
    _installed = True
    os.register_at_fork(after_in_child=_after_fork)
    patches = {}
    for part in (_patches(session), trainers.patches(), arm.install(session) if arm.is_wanted() else {}):
        for name, patch in part.items():
            patches.setdefault(name, []).append(patch)
    steps.report_first(session.steps)
    after_import = _AfterImport(patches)
    for name in [name for name in patches if name in sys.modules]:
        after_import.imported(sys.modules[name])
    sys.meta_path.insert(0, after_import)


def program_ends(session):
    """Runs each part separately, so that a failure does not discard the results of the others."""
    patience.ends()
    now = session.now()
    guarded(session.phases.program_ended)(now)
    guarded(session.steps.program_ended)(now)
    guarded(session.losses.read)()
    guarded(session.lines.end)()
    session.facts.write()
    if session.always_on is not None:
        session.always_on.captures.program_ends()


@guarded
def _after_fork():
    """A forked child has the parent's objects, and its own trace from its first event on."""
    session = tracing.current()
    if session is not None:
        session.forked()
        arm.forked(session)
        if session.always_on is not None:
            session.always_on.forked()


class _AfterImport(importlib.abc.MetaPathFinder):
    """Runs functions after a module with a given name was imported, whatever finder finds it."""

    def __init__(self, patches):
        self._patches = dict(patches)
        self._searching = set()

    def find_spec(self, name, path, target=None):
        if name not in self._patches or name in self._searching:
            return None
        self._searching.add(name)  # another finder may query all finders, including this one
        try:
            others = [finder for finder in sys.meta_path if finder is not self and hasattr(finder, "find_spec")]
            spec = next((found for finder in others if (found := finder.find_spec(name, path, target))), None)
        finally:
            self._searching.discard(name)
        if spec is not None and spec.loader is not None:
            self._follow(spec.loader)
        return spec

    @guarded
    def _follow(self, loader):
        """Waits until the module is executed, because libraries sometimes look up a module without importing it."""
        run = loader.exec_module

        def exec_module(module):
            run(module)
            self.imported(module)

        loader.exec_module = exec_module

    def imported(self, module):
        for patch in self._patches.pop(module.__name__, ()):
            try:
                patch(module)
            except Exception as error:
                print(f"stepscope: {module.__name__} is not recorded: {error!r}", file=sys.stderr)


def _patch_processes(module):
    """multiprocessing.util: its processes, such as loader workers, exit with _exit, which runs only multiprocessing's
    own exit handlers. Those of the parent are cleared in the child before this runs."""
    module.register_after_fork(
        tracing.current(), lambda session: module.Finalize(None, _child_ends, (session,), exitpriority=-1000)
    )


def _child_ends(session):
    if session.facts.has_trained:
        program_ends(session)
    session.end()


def _record_libraries(module, session):
    """Versions of cuDNN and NCCL according to PyTorch's build."""
    if not getattr(module.version, "cuda", None):
        return
    try:
        number = module.backends.cudnn.version() or 0
        major = 10000 if number >= 90000 else 1000  # 91900 is 9.19.0, 8907 is 8.9.7
        if number:
            session.metadata("versions.cudnn", f"{number // major}.{number % major // 100}.{number % 100}")
        session.metadata("versions.nccl", ".".join(str(part) for part in module.cuda.nccl.version()))
    except Exception as error:  # a build without one of them is recorded anyway
        session.metadata("versions.missing", repr(error))


def _record_processor(session):
    """The processor's name, and the instruction sets that determine which precision is fast."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            rows = dict(line.split(":", 1) for line in file.read(20_000).splitlines() if ":" in line)
    except OSError:
        return
    rows = {name.strip(): value.strip() for name, value in rows.items()}
    wanted = [flag for flag in rows.get("flags", rows.get("Features", "")).split() if _is_vector_flag(flag)]
    if rows.get("model name"):
        session.metadata("host.cpu", rows["model name"])
    session.metadata("host.cpu_flags", " ".join(wanted) or "none")


def _is_vector_flag(flag):
    return flag.startswith(("avx", "amx", "fma", "sve")) or flag in ("bf16", "asimd", "asimdhp", "f16c")


# The oldest and the newest supported versions. The README names those with which the hooks were run.
_PYTHONS = (3, 9), (3, 14)
_TORCHES = (2, 4), (2, 15)


def version_warnings(python, torch):
    """A warning about versions that the hooks do not support.

    python, torch: version numbers as text, "3.11.7" and "2.11.0+cu130"
    """
    for name, text, (oldest, newest) in (("Python", python, _PYTHONS), ("PyTorch", torch, _TORCHES)):
        parts = [part for part in text.split("+")[0].split(".")[:2] if part.isdecimal()]
        number = tuple(int(part) for part in parts)
        if len(number) == 2 and not oldest <= number <= newest:
            first, last = (".".join(str(part) for part in version) for version in (oldest, newest))
            yield (
                f"This program runs with {name} {text}. Stepscope's hooks support {name} {first} to {last}: "
                f"facts may be missing, and changes may not apply. Use one of these versions if something looks wrong."
            )


@guarded
def _warn_of_versions(torch, session):
    """Warns once per program, not once per loader worker."""
    multiprocessing = sys.modules.get("multiprocessing")
    if multiprocessing is not None and multiprocessing.parent_process() is not None:
        return
    for warning in version_warnings(sys.version.split()[0], str(torch.__version__)):
        print(f"stepscope: {warning}", file=sys.stderr)
        session.metadata("versions.warning", warning)
        session.facts.note(warning)
        notes = os.environ.get("STEPSCOPE_NOTES")
        if notes and session.is_recording:
            with open(notes, "a", encoding="utf-8") as file:
                file.write(warning + "\n")


def _usable_cores():
    """The cores that this process may use: a container or a job scheduler may grant fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 0


def record_versions(torch, session):
    """Versions and the machine, for each trace."""
    session.metadata("versions.torch", torch.__version__)
    session.metadata("versions.python", sys.version.split()[0])
    if getattr(torch.version, "cuda", None):
        session.metadata("versions.cuda_runtime", torch.version.cuda)
    _record_libraries(torch, session)
    session.metadata("host.cores", str(_usable_cores()))
    _record_processor(session)


def _patch_torch(module):
    """torch itself, after it is fully imported: facts for the trace, and operators if requested."""
    session = tracing.current()
    _warn_of_versions(module, session)
    record_versions(module, session)
    patience.install(session)
    _patch_whole_torch(module, session)
    if os.environ.get("STEPSCOPE_OPS") == "1":
        _record_operators(session, module)


def _patch_whole_torch(torch, session):
    from . import model, optimizers, precision, syncs

    parts = (
        ("models", lambda: model.patch_module(torch.nn.modules.module, session.models)),
        ("gradients", lambda: optimizers.patch_module(torch.nn.modules.module, session.steps.has_optimizers)),
        ("settings", lambda: precision.patch(torch)),
        ("tensors", lambda: syncs.patch(torch)),
        ("clipping", lambda: optimizers.patch_clipping(torch.nn.utils.clip_grad, torch.nn.utils)),
        ("schedulers", lambda: optimizers.patch_schedulers(torch.optim.lr_scheduler)),
    )
    for name, patch in parts:
        try:
            patch()
        except Exception as error:
            session.facts.note(f"{name} are not recorded: {error!r}")


def _record_operators(session, torch):
    from . import operators

    shapes = os.environ.get("STEPSCOPE_LEVEL") == "full"
    every, length = (os.environ.get("STEPSCOPE_OPS_" + name) for name in ("EVERY", "WINDOW"))
    if every and length:
        switches = operators.source(session, torch, shapes)
        session.steps.windows = windows.Windows(session, int(every), int(length), switches)
    elif session.steps.recorded:
        session.steps.recorded.switches = operators.source(session, torch, shapes)
    else:
        session.operators_off = operators.switch_on(session, torch, shapes)


def _later(module_of_ours, function):
    """A patch of another file in this folder, which is imported when it is needed."""

    def patch(module):
        file = importlib.import_module(f"{__package__}.{module_of_ours}")
        getattr(file, function)(module)

    return patch


def _patches(session):
    load = functools.partial(configs.patch_load, configurations=session.facts.configurations)
    return {
        "argparse": functools.partial(arguments.patch_argparse, arguments=session.facts.arguments),
        "click.core": functools.partial(arguments.patch_click, arguments=session.facts.arguments),
        "configparser": functools.partial(configs.patch_configparser, configurations=session.facts.configurations),
        "fastai.optimizer": _later("optimizers", "patch_fastai"),
        "json": load,
        "multiprocessing.process": functools.partial(arguments.patch_processes, arguments=session.facts.arguments),
        "multiprocessing.util": _patch_processes,
        "numpy": _later("precision", "patch_numpy"),
        "ruamel.yaml.main": functools.partial(configs.patch_ruamel, configurations=session.facts.configurations),
        "safetensors.torch": _later("syncs", "patch_safetensors"),
        "toml": load,
        "tomli": load,
        "tomllib": load,
        "torch": _patch_torch,
        "torch.amp.grad_scaler": _later("optimizers", "patch_scaler"),
        "torch.autograd": _later("losses", "patch_autograd"),
        "torch.optim.optimizer": _later("optimizers", "patch_optimizer"),
        "torch.utils.data._utils.fetch": _later("loaders", "patch_fetch"),
        "torch.utils.data.dataloader": _later("loaders", "patch_loader"),
        "torch.utils.tensorboard.writer": _later("syncs", "patch_tensorboard"),
        "wandb.sdk.wandb_run": _later("syncs", "patch_wandb"),
        "yaml": load,
        "mlflow.tracking.fluent": _later("syncs", "patch_mlflow"),
        "lightning.pytorch.trainer.connectors.logger_connector.logger_connector": _later("syncs", "patch_lightning"),
        "pytorch_lightning.trainer.connectors.logger_connector.logger_connector": _later("syncs", "patch_lightning"),
        "accelerate.accelerator": _later("syncs", "patch_accelerate"),
    }
