"""Recording a part of a process that Stepscope did not start: `with stepscope.recording("run.sstrace"):`.

`stepscope-cli record` runs in parallel to the process, with a command that only waits: it samples the machine, and
creates the trace from what the process wrote. Anything that prevents the recording is printed, and the program still
runs.
"""
import contextlib
import os
import shutil
import subprocess
import sys
import threading

from . import hooks, operators, tracing
from .guard import guarded

_READY = "stepscope is ready"
_PATIENCE = 30.0  # maximum seconds until the command is ready, and until the trace is written
# Waits for the end of its standard input. The trace shows its name as the command.
_WAIT = f"echo {_READY}; exec cat > /dev/null"
_VARIABLES = (
    "STEPSCOPE_RECORD", "STEPSCOPE_LIBRARY", "STEPSCOPE_LEVEL", "STEPSCOPE_OPS", "STEPSCOPE_OPS_EVERY", "STEPSCOPE_OPS_WINDOW",
    "NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH",
)


class CannotRecord(Exception):
    """The message says what to do."""


def find_cli():
    """The stepscope-cli with which this package is installed or built; otherwise the one on PATH.

    @raises CannotRecord
    """
    given = os.environ.get("STEPSCOPE_CLI")
    here = os.path.dirname(os.path.abspath(__file__))
    installed_by_pip = os.path.join(here, "_program", "bin", "stepscope-cli")
    beside = os.path.join(here, "..", "..", "..", "..", "bin", "stepscope-cli")
    for path in (given, installed_by_pip, beside, shutil.which("stepscope-cli")):
        if path and os.access(path, os.X_OK):
            return os.path.normpath(path)
    raise CannotRecord("stepscope-cli was not found. Set STEPSCOPE_CLI to its path, or put its folder on PATH.")


def _library_of(cli):
    prefix = os.path.dirname(os.path.dirname(os.path.realpath(cli)))
    for folder in ("lib", os.path.join("lib", "stepscope")):
        path = os.path.join(prefix, folder, "libstepscope_inject.so")
        if os.path.exists(path):
            return path
    raise CannotRecord(f"{cli} has no libstepscope_inject.so in {prefix}/lib. Reinstall Stepscope.")


class Part:
    """One recording. start() raises CannotRecord; stop() returns what the command printed. captures.py calls the steps of
    both one by one."""

    def __init__(self, path, with_operators):
        self.path = os.path.abspath(path)
        self._with_operators = with_operators
        self._before = {}
        self._beside = None
        self._cli = find_cli()
        self.library = _library_of(self._cli)

    def start(self):
        self.start_beside()
        try:
            self.set_variables()
            if not tracing.begin(self.library):
                raise CannotRecord(f"{self.path} cannot be written.")
            self.record_device()
            hooks.install_late()
            self._switch_operators_on()
            tracing.current().lines.start()
        except BaseException:
            self.restore_variables()
            self.abandon()
            raise

    def abandon(self):
        """Ends the command without a trace."""
        if self._beside is not None:
            self._beside.kill()
            self._beside.wait()

    def start_beside(self):
        """Starts the command, and returns when it is ready. May be called on any thread."""
        self._beside = subprocess.Popen(
            [self._cli, "record", "--no-python", "-o", self.path, "--", "sh", "-c", _WAIT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # an interrupt of the cell must not reach the recording
        )
        # The command uses only parts of the trace that appear after it has begun.
        watchdog = threading.Timer(_PATIENCE, self._beside.kill)
        watchdog.start()
        said = []
        for line in self._beside.stdout:
            if line.strip() == _READY:
                watchdog.cancel()
                return
            said.append(line.strip())
        watchdog.cancel()
        self._beside.wait()
        raise CannotRecord("stepscope-cli record did not start: " + (" ".join(said) or "it took too long") + ".")

    def set_variables(self):
        self._before = {name: os.environ.get(name) for name in _VARIABLES}
        os.environ.update(
            STEPSCOPE_RECORD=self.path,
            STEPSCOPE_LIBRARY=self.library,
            STEPSCOPE_LEVEL="standard",
            STEPSCOPE_OPS="1" if self._with_operators else "0",
            STEPSCOPE_OPS_EVERY="",
            STEPSCOPE_OPS_WINDOW="",
            NVTX_INJECTION64_PATH=self.library,
            CUDA_INJECTION64_PATH=self.library,
        )

    def restore_variables(self):
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    @guarded
    def record_device(self):
        """The driver loads the library when it is initialized; if it already was, it has to be loaded here."""
        import ctypes

        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_initialized():
            ctypes.CDLL(self.library).InitializeInjection()

    @guarded
    def _switch_operators_on(self):
        """If torch is imported later, its hook does this."""
        torch, session = sys.modules.get("torch"), tracing.current()
        if self._with_operators and torch is not None and session.operators_off is None:
            on, session.operators_off = operators.source(session, torch)
            on()

    def stop(self):
        session = tracing.current()
        off, session.operators_off = session.operators_off, None
        if off is not None:
            guarded(off)()
        hooks.program_ends(session)
        guarded(session.end)()
        session.stop()
        self.restore_variables()
        return self.collect()

    def collect(self):
        """Waits until the command has written the trace. May be called on any thread."""
        try:
            said, _ = self._beside.communicate(timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            self._beside.kill()
            said, _ = self._beside.communicate()
            return f"{said}\nThe trace was not written within {_PATIENCE:.0f} s."
        return said.strip()


@contextlib.contextmanager
def recording(path="run.sstrace", ops=True, quiet=False):
    """Records what happens inside. Yields whether it is recorded: not within a recording of the whole program, and not
    if the recording cannot start.

    path   of the trace, which is overwritten
    ops    whether PyTorch's operators are recorded
    quiet  whether no message about the trace is printed
    """
    session = tracing.current()
    if session is not None and session.is_recording:
        yield False
        return
    part = Part(path, ops)
    try:
        part.start()
    except (CannotRecord, OSError) as error:
        print(f"stepscope: nothing is recorded: {error}", file=sys.stderr)
        part = None
    try:
        yield part is not None
    finally:
        said = part.stop() if part is not None else ""
        if said and not quiet:
            print(said)
