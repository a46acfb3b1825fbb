"""A program as one arm of an experiment: it trains in turns, and waits between them at the end of a step.

Nothing is recorded. Steps are detected as in a recording (steps.py). The experiment listens on a Unix socket in Linux's
abstract namespace, whose name is in STEPSCOPE_ARM; every process that trains connects to it. This also works with
launchers that close inherited descriptors (torchrun). Both sides write JSON objects, one per line:

    → {"type": "started", "pid": 17, "python": "3.11.7", "torch": "2.4.0"}          when torch has been imported
    → {"type": "hello", "rank": 0, "ranks": 1, "device": "cpu", "loader": {...}, "seeded": ["torch"], ...}
                                                                                    at the end of the first step
    ← {"type": "turn", "what": "steps", "drop": 3, "count": 20}
    → {"type": "left", "left": 1}                                                   ranks, after each step of a turn of
                                                                                    validations: those still to do
    ← {"type": "continue"} or {"type": "stop"}                                      "stop" when one rank has done all of
                                                                                    them; the ranks then end their turn
    → {"type": "progress", "steps": 9}                                              within a turn, at most once per second
    → {"type": "turn", "ns": [...], "losses": [...], "samples": 640, "steps": 24, "peak_bytes": 1, "peak_of": "process",
       "loader": {...}}                                                             a program may change its number of workers
    → {"type": "done", "steps": 23, "turn": {...}}                                  when the program ends by itself: the part
                                                                                    of its turn that it did, or null
    → {"type": "failed", "traceback": ["...", ...]}                                 when an exception ends it

STEPSCOPE_ARM_SEED is the number of the start, from 1: libraries get it as their seed, and a seed that the program sets is
shifted by it (the first start has the program's own).

A turn counts "steps", "validation" or "epoch". The program trains as usual in each of them; only what is counted is
timed. A turn of validations ends at the end of the next step. An epoch lasts from the start of one iteration over the
training loader to the start of the next, without validations and waits: a turn of epochs begins and ends there.

In a distributed program, every rank connects and gets the same turns. Ranks run their steps together, so each of them
stops after the same step. If only one rank runs the validations, the others wait for it in a barrier or in their next
step. Therefore a rank stops when it continues to train, not before a validation; and only the experiment knows when the
validations of a turn are done. A waiting process blocks in a read and uses no processor time. When the experiment
closes the connection, the process exits without continuing the program.
"""
import atexit
import faulthandler
import functools
import json
import math
import os
import random
import socket
import sys
import threading
import time
import traceback
import weakref

from .guard import guarded, report

_NAME, _SEED, _STACK_SIGNAL = "STEPSCOPE_ARM", "STEPSCOPE_ARM_SEED", "STEPSCOPE_ARM_STACK_SIGNAL"
_UNREACHABLE = 3  # exit status of a process whose experiment does not respond
_PROGRESS_NS = 1_000_000_000  # between two progress reports
_MOST_LINES = 20  # lines of a traceback: its end names the error and the innermost calls

_arm = None


def is_wanted():
    """Whether this process belongs to an arm of an experiment."""
    return bool(os.environ.get(_NAME))


class NullLibrary:
    """Replaces the injection library: a session without a trace."""

    def __getattr__(self, name):
        return _write_nothing


def _write_nothing(*_):
    return 0


def install(session):
    """Called once in each Python process of an arm, before the program's first line. Returns what has to be done after
    the import of which module."""
    global _arm
    _arm = Arm(session)
    _arm.seed_standard_library()
    _report_exceptions()
    atexit.register(lambda: _arm.program_ended())
    _write_stacks_on_a_signal()
    return {
        "torch": lambda module: _arm.torch_imported(module),
        "torch.autograd": _watch_backward,
        "torch.amp.grad_scaler": _watch_scaler,
        "torch.utils.data.dataloader": _watch_loader,
        "numpy.random": lambda module: _arm.seed_module(module, "numpy", "seed"),
    }


@guarded
def _write_stacks_on_a_signal():
    if os.environ.get(_STACK_SIGNAL):
        # A copy, because the program may close its standard error or redirect it to a file.
        faulthandler.register(int(os.environ[_STACK_SIGNAL]), file=os.dup(2), all_threads=True, chain=False)


@guarded
def forked(session):
    """In a forked child, the connection belongs to the parent. The child joins the arm separately when it trains."""
    global _arm
    if _arm is not None:
        seeds = _arm.seeds
        _arm.close()
        _arm = Arm(session)
        _arm.seeds = seeds


def _report_exceptions():
    before = sys.excepthook

    def report(kind, error, trace):
        try:
            _arm.failed(kind, error, trace)
        finally:
            before(kind, error, trace)

    sys.excepthook = report


def _watch_backward(module):
    """torch.autograd: records the loss, which is the value that a backward pass starts from."""
    backward = module.backward

    @functools.wraps(backward)
    def watched(tensors, *arguments, **named):
        _arm.backward_starts(tensors)
        return backward(tensors, *arguments, **named)

    module.backward = watched


def _watch_scaler(module):
    """torch.amp.grad_scaler: records the loss before scaling."""
    scale = module.GradScaler.scale

    @functools.wraps(scale)
    def watched(self, outputs):
        scaled = scale(self, outputs)
        _keep_unscaled(scaled, outputs)
        return scaled

    module.GradScaler.scale = watched


@guarded
def _keep_unscaled(scaled, outputs):
    if scaled is not outputs and hasattr(scaled, "backward"):
        scaled._stepscope_unscaled = outputs.detach()


def _watch_loader(module):
    """torch.utils.data.dataloader: records how many samples are requested, and by which loader."""
    base = module._BaseDataLoaderIter
    ask, begin, reset = base.__next__, base.__init__, base._reset

    @functools.wraps(begin)
    def __init__(self, loader, *arguments, **named):
        _attach_loader(self, loader)
        _arm.iteration_began(loader)
        begin(self, loader, *arguments, **named)

    @functools.wraps(reset)
    def _reset(self, loader, first_iter=False):
        if not first_iter:  # persistent workers keep their iterator
            _arm.iteration_began(loader)
        reset(self, loader, first_iter)

    @functools.wraps(ask)
    def __next__(self):
        batch = ask(self)
        _arm.batch_fetched(getattr(self, "_stepscope_loader", None), batch)
        return batch

    base.__init__, base.__next__, base._reset = __init__, __next__, _reset


@guarded
def _attach_loader(iterator, loader):
    iterator._stepscope_loader = _Loader(loader)


class _Loader:
    """Information about a loader, which may not be of PyTorch's own class."""

    def __init__(self, loader):
        from .loaders import batch_size_of, owner_of

        owner = owner_of(loader)
        self.key = id(owner)
        self.owner = weakref.ref(owner)
        self.workers = getattr(loader, "num_workers", 0)
        self.prefetch = getattr(loader, "prefetch_factor", None) or 0
        self.batch_size = batch_size_of(owner)

    def samples(self, batch):
        """The nominal batch size. If the program creates its batches itself: the first dimension of the batch's first
        tensor."""
        if not self.batch_size:
            self.batch_size = _first_dimension(batch)
        return self.batch_size


def _first_dimension(batch):
    for _ in range(8):  # no batch is nested more deeply
        shape = getattr(batch, "shape", None)
        if shape is not None and len(shape) > 0:
            return int(shape[0])
        if hasattr(batch, "values"):
            batch = next(iter(batch.values()), None)
        elif isinstance(batch, (list, tuple)) and batch:
            batch = batch[0]
        else:
            break
    return 1


class Arm:
    """This process's part of the arm. Used by the training thread."""

    def __init__(self, session):
        self._session = session
        self._torch = sys.modules.get("torch")
        self._socket = self._lines = None
        self._hello_sent = self._ended = False
        self._thread = None  # the training thread
        self.seeds = {}  # library: whether the program has set its seed itself
        self._steps = 0
        self._what = None  # the unit that the turn counts
        self._drop = self._left = 0
        self._resumed = 0  # start of the counted part of the turn
        self._waited = 0  # end of the last wait for a turn
        self._reported = 0  # time of the last progress report
        self._times, self._turn_losses, self._samples = [], [], 0
        self._step_losses = []  # of the current step, on their device
        self._fetched = {}  # samples since the end of the last step, by loader
        self._asked = None  # the last loader that was asked for a batch
        self._training = {}  # loaders whose batches were used for training
        self._last_samples = 1
        self._inputs = 0  # first dimensions of the model's inputs since the end of the last step
        self._counts_inputs = False  # the program creates its batches itself, without a loader
        self._evaluated = {}  # samples since the end of the last step or validation, by loader; for validation turns
        self._epoch_began = None  # None: the first epoch of the turn has not begun
        self._epoch_samples = 0
        self._validated = 0  # time of validations in the current epoch
        self._ranks = 1
        self._is_to_stop = False  # before the next training, because other ranks may wait for a validation before it
        session.steps.listeners.append(self.step_ended)
        session.steps.before_training.append(self.training_continues)
        session.models.input_listener = self.model_called
        session.phases.listeners.append(self.validation_ended)

    # --- called by the hooks ---

    def seed_standard_library(self):
        self.seed_module(random, "random", "seed")

    def torch_imported(self, module):
        self._torch = module
        self.seed_module(module, "torch", "manual_seed")
        multiprocessing = sys.modules.get("multiprocessing")
        # Loader workers import torch as well; a child that trains connects at the end of its first step.
        if multiprocessing is None or multiprocessing.parent_process() is None:
            self._connect()

    def seed_module(self, module, library, function):
        """Seeds a library, and notices whether the program seeds it itself. Each start of the experiment has its own seed;
        a number that the program sets is shifted, so that its first start has the program's own."""
        number = os.environ.get(_SEED)
        if not number:
            return
        set_seed = getattr(module, function)
        set_seed(int(number))
        self.seeds[library] = False
        shift = int(number) - 1

        @functools.wraps(set_seed)
        def watched(*arguments, **named):
            _arm.seeds[library] = True
            if arguments:
                return set_seed(_shifted(arguments[0], shift), *arguments[1:], **named)
            # random.seed() calls it `a`.
            return set_seed(**{name: _shifted(value, shift) if name in ("seed", "a") else value
                               for name, value in named.items()})

        setattr(module, function, watched)
        if library == "torch":
            module.random.manual_seed = watched

    @guarded
    def batch_fetched(self, loader, batch):
        if loader is None:
            return
        self._asked = loader
        self._fetched[loader.key] = self._fetched.get(loader.key, 0) + loader.samples(batch)
        if self._what == "validation":  # the last batch may be smaller, and a validation has only a few batches
            self._evaluated[loader.key] = self._evaluated.get(loader.key, 0) + _first_dimension(batch)
        self._report_progress(self._session.now())

    @guarded
    def model_called(self, arguments, named):
        if not self._training:
            self._inputs += _first_dimension(arguments or named)

    @guarded
    def backward_starts(self, tensors):
        """Keeps the loss on its device: reading it back here would wait for the device in every step."""
        if self._asked is not None:
            self._training[self._asked.key] = self._asked
        value = tensors[0] if isinstance(tensors, (list, tuple)) and tensors else tensors
        if not hasattr(value, "detach") or self._torch.compiler.is_compiling():
            return
        value = getattr(value, "_stepscope_unscaled", value).detach()
        # A copy, because a CUDA graph writes its next loss to the same memory.
        self._step_losses.append(value.clone() if value.dim() == 0 else value.mean())

    def step_ended(self, now):
        """Called at the end of each step. Returns when the next step may begin. After an error, the program continues
        alone, and the experiment notices that the connection is closed."""
        try:
            self._step_ended(now)
        except Exception as error:
            self._give_up("the end of a step", error)

    def training_continues(self):
        """Called before training begins or continues, for example after a validation."""
        if not self._is_to_stop or self._thread != threading.get_ident():
            return
        self._is_to_stop = False
        try:
            self._stop()
        except Exception as error:
            self._give_up("the end of a validation", error)

    def iteration_began(self, loader):
        """Called at the start of each iteration over a loader."""
        try:
            self._iteration_began(loader)
        except Exception as error:
            self._give_up("the start of an epoch", error)

    def _give_up(self, where, error):
        report(where, error)
        self._ended = True
        self.close()

    @guarded
    def validation_ended(self, since, end):
        evaluated, self._evaluated = self._evaluated, {}
        begin = max(since, self._waited)  # the previous step may have ended with a wait
        if end <= begin:
            return
        if self._what == "epoch":
            self._validated += end - begin
        elif self._what == "validation" and (self._left > 0 or self._ranks > 1):
            self._times.append(end - begin + self._synchronize())
            others = sum(count for key, count in evaluated.items() if key not in self._training)
            self._samples += others or sum(evaluated.values()) or 1
            self._left -= 1

    def _step_ended(self, now):
        if self._ended:
            return
        self.training_continues()  # a program that marks its steps may do so without any hook
        self._steps += 1
        self._report_progress(now)
        self._evaluated = {}
        samples = self._take_samples()
        losses, self._step_losses = self._step_losses, []
        if not self._hello_sent:
            self._send_hello()
            self._stop_between_steps()
        elif self._socket is None:
            return
        elif self._what == "validation":
            # The device work of this step must not count as validation time.
            self._synchronize()
            if self._left <= 0 or self._ranks > 1:
                self._stop_between_steps()
        elif self._what == "epoch":
            self._epoch_samples += samples
        elif self._drop > 0:
            self._drop -= 1
            if self._drop == 0:
                self._begin_counting()
        else:
            self._times.append(now - max(self._session.steps.begun, self._resumed))
            self._turn_losses.append(losses)
            self._samples += samples
            self._left -= 1
            if self._left == 0:
                self._end_counting(now)
                self._stop_between_steps()

    def _stop_between_steps(self):
        if self._ranks > 1:
            self._is_to_stop = True
        else:
            self._stop()

    def _stop(self):
        """Ends the turn, if it is done on all ranks, and waits for the next one."""
        if self._what == "validation" and self._ranks > 1 and self._others_need_more():
            return
        if self._what is not None:
            self._send(self._turn())
        self._wait_for_turn()

    def _others_need_more(self):
        """Whether no rank has done all validations of the turn."""
        self._send({"type": "left", "left": self._left})
        return self._receive().get("type") == "continue"

    def _iteration_began(self, loader):
        """Handles the start of an epoch, if the program trains with this loader."""
        if self._what != "epoch" or self._ended or self._thread != threading.get_ident():
            return
        if not self._trains_with(loader):
            return
        with self._session.lock:
            self._session.phases.epoch_began()
        self._synchronize()
        now = self._session.now()
        if self._epoch_began is not None:
            self._times.append(now - self._epoch_began - self._validated)
            self._samples += self._epoch_samples
            self._left -= 1
            if self._left == 0:
                self._send(self._turn())
                self._wait_for_turn()
                now = self._session.now()
        self._epoch_began, self._epoch_samples, self._validated = now, 0, 0

    def _trains_with(self, loader):
        """Whether this is the first of the program's training loaders; its epochs are counted."""
        from .loaders import owner_of

        first = next(iter(self._training.values()), None)
        return first is not None and first.owner() is owner_of(loader)

    @guarded
    def program_ended(self):
        """The last step ends only now and is in no turn: nothing may wait any more."""
        self._ended = True
        turn = self._turn() if self._times else None
        self._send({"type": "done", "steps": self._steps, "turn": turn})

    @guarded
    def failed(self, kind, error, trace):
        if kind is SystemExit or not (self._torch or self._socket):
            return
        lines = "".join(traceback.format_exception(kind, error, trace)).splitlines()
        self._connect()
        self._send({"type": "failed", "steps": self._steps, "traceback": lines[-_MOST_LINES:]})

    def _take_samples(self):
        """Samples of the training loaders since the end of the last step; those of validation do not count. Without a
        loader, the model's inputs are counted."""
        fetched, self._fetched = self._fetched, {}
        inputs, self._inputs = self._inputs, 0
        samples = sum(count for key, count in fetched.items() if key in self._training)
        if not self._training and inputs:
            self._counts_inputs, samples = True, inputs
        if samples:
            self._last_samples = samples
        return samples or self._last_samples  # a program may have kept its batches

    # --- turns ---

    def _send_hello(self):
        self._hello_sent = True
        self._thread = threading.get_ident()
        self._connect()
        rank, self._ranks = self._rank()
        self._send(
            {
                "type": "hello",
                "rank": rank,
                "ranks": self._ranks,
                "pid": os.getpid(),
                "steps": self._steps,
                "device": self._device(),
                "loader": self._loader(),
                "seeded": sorted(library for library, by_program in self.seeds.items() if not by_program),
                **self._versions(),
            }
        )

    def _loader(self):
        """The number of batches that are ready, over all loaders used for training so far."""
        loaders = self._training.values()
        return {
            "batch_size": self._last_samples if loaders or self._counts_inputs else 0,
            "workers": max((loader.workers for loader in loaders), default=0),
            "prefetch": max((loader.prefetch for loader in loaders), default=0),
        }

    def _versions(self):
        return {"python": sys.version.split()[0], "torch": getattr(self._torch, "__version__", "")}

    def _rank(self):
        """The sum over the ranks on this machine."""
        distributed = self._torch.distributed
        if not distributed.is_available() or not distributed.is_initialized():
            return 0, 1
        local = os.environ.get("LOCAL_RANK"), os.environ.get("LOCAL_WORLD_SIZE")
        if all(local):
            return int(local[0]), int(local[1])
        return distributed.get_rank(), distributed.get_world_size()

    def _device(self):
        return self._torch.cuda.get_device_name() if self._uses_cuda() else "cpu"

    def _uses_cuda(self):
        return self._torch.cuda.is_available() and self._torch.cuda.is_initialized()

    def _synchronize(self):
        """Waits for the device. Returns the waiting time in ns."""
        if not self._uses_cuda():
            return 0
        begin = self._session.now()
        self._torch.cuda.synchronize()
        return self._session.now() - begin

    def _begin_counting(self):
        self._synchronize()
        self._resumed = self._session.now()

    def _end_counting(self, ended):
        self._synchronize()
        # Pending device work belongs to the steps that launched it.
        self._times[-1] += self._session.now() - ended

    def _turn(self):
        losses = [_mean(losses) for losses in self._turn_losses]
        peak, of = self._peak()
        return {
            "type": "turn",
            "ns": self._times,
            "losses": losses if all(losses_of_step for losses_of_step in self._turn_losses) else [],
            "samples": self._samples,
            "steps": self._steps,
            "loader": self._loader(),
            "peak_bytes": peak,
            "peak_of": of,
        }

    def _peak(self):
        if self._uses_cuda():
            cuda = self._torch.cuda
            return max(cuda.max_memory_allocated(device) for device in range(cuda.device_count())), "tensors"
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, "process"

    def _wait_for_turn(self):
        if self._socket is None:
            return
        turn = self._receive()
        if turn.get("type") != "turn":
            os._exit(0)  # the experiment has ended
        self._what, self._drop, self._left = turn["what"], turn["drop"], turn["count"]
        self._times, self._turn_losses, self._samples = [], [], 0
        self._epoch_began = None
        if self._drop == 0:
            self._begin_counting()
        self._waited = self._reported = self._session.now()

    def _report_progress(self, now):
        """Reports progress, so that a long validation or epoch is not mistaken for a hang."""
        if self._hello_sent and now - self._reported >= _PROGRESS_NS:
            self._reported = now
            self._send({"type": "progress", "steps": self._steps})

    # --- the connection ---

    def _connect(self):
        if self._socket is not None:
            return
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect("\0" + os.environ[_NAME])
        except OSError as error:
            # The experiment has ended, or this process is in a separate network namespace. Training on would only take
            # processor time from others, without limit.
            print(f"stepscope: cannot connect to the experiment: {error}", file=sys.stderr, flush=True)
            os._exit(_UNREACHABLE)
        self._socket, self._lines = connection, connection.makefile("r", encoding="utf-8")
        self._send({"type": "started", "pid": os.getpid(), **self._versions()})

    def _receive(self):
        try:
            line = self._lines.readline()
        except OSError:
            line = ""
        return json.loads(line) if line else {}

    def _send(self, record):
        if self._socket is None:
            return
        try:
            self._socket.sendall((json.dumps(record) + "\n").encode("utf-8"))
        except OSError:  # the experiment has ended; the next wait ends this process
            pass

    def close(self):
        if self._socket is not None:
            self._lines.close()
            self._socket.close()
            self._socket = None


def _shifted(seed, shift):
    """The seed plus `shift`, also for a NumPy integer. Other values (None, arrays, texts, the version of random.seed) are
    returned unchanged."""
    is_number = hasattr(seed, "__index__") and not isinstance(seed, bool) and getattr(seed, "shape", ()) == ()
    return (int(seed) + shift) % 2**32 if is_number and 0 <= int(seed) < 2**32 else seed


def _mean(losses):
    """The total loss of the backward passes of one step. None if there was none or it is not finite."""
    value = sum(float(loss) for loss in losses) / len(losses) if losses else math.nan
    return value if math.isfinite(value) else None
