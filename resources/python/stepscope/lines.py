"""Samples the user's lines that the training thread executes, 200 times per second, or as often as 1 % of a processor
allows.

The injection library takes the samples (profiler/capture/injection/line_samples.h): nothing is traced, and nothing is
installed in the interpreter's loop. The main thread samples itself when it is asked to; for a training loop on another
thread, a thread here reads its frames. Each sample is the stack of the user's frames, innermost first; equal stacks are
stored once. The document `lines` in the trace's metadata:

  schema, interval_us, begin_ns (trace time), files [path], places [[file, line, function]], stacks [[place, …]]
  loops [[first line, last line], …] by place: the outermost loop of its function in which it lies, but which contains no
         backward pass and no optimizer step, so that it runs within a step; [0, 0]: none
  samples [stack, µs since the previous sample, stack, µs, …]
  cost_us   processor time that sampling took; samples with the stack −1 are outside the user's files

and, if allocations are recorded (operators.py), one of:
  allocated [bytes, number, …] from the previous sample to each sample: an operator allocates first, then it computes
  exact     [place, bytes, number, …] of the lines that allocated, at level full
"""
import ctypes
import json
import os
import sys
import threading

from . import operators, sites
from .guard import guarded

_INTERVAL = 5_000_000  # ns
_FIRST_WRITE = 10  # seconds; the pauses between the next ones are three times as long each
_PLACE = ctypes.CFUNCTYPE(None, ctypes.py_object, ctypes.c_int)
_REST = ctypes.CFUNCTYPE(None, ctypes.c_char_p)


class Lines:
    def __init__(self, session):
        self._session = session
        self._reset()

    def _reset(self):
        self._is_sampled = False
        self._target = None  # the sampled thread
        self._has_trained = False
        self._ended = threading.Event()
        self._threads = []
        self._places = {}
        self._files = {}
        self._allocations = None  # None: not recorded
        self._library = self._whole = None

    def trained(self):
        """The calling thread has trained: it is the sampled one from its first step on."""
        if not self._has_trained:
            self._has_trained = True
            if self._target != threading.get_ident():
                self.start()

    def start(self):
        """Samples the calling thread from now on, instead of another one."""
        if os.environ.get("STEPSCOPE_LINES") == "0" or not self._session.is_recording:
            return
        if self._is_sampled:
            self._stop()
            self._ended, self._threads = threading.Event(), []
        self._is_sampled = True
        self._target = threading.get_ident()
        self._library, self._whole = self._session.libraries
        self._allocations = operators.counted_allocations(self._session)
        totals = None
        if self._allocations is not None and not self._allocations.are_by_line:
            totals = self._allocations.function
        is_main = threading.current_thread() is threading.main_thread()
        needs_gil = sys.version_info < (3, 13)
        if not self._library.stepscope_lines_start(sites.library_folders(), _INTERVAL, is_main, needs_gil, totals):
            self._session.facts.note("lines are not sampled: this interpreter's frames cannot be read")
            return
        if not is_main:
            self._run(self._sample_repeatedly, "stepscope lines")
        self._run(self._write_repeatedly, "stepscope lines writer")

    def _run(self, function, name):
        thread = threading.Thread(target=guarded(function), name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def restart(self):
        self._stop()
        self._reset()

    def begin_again(self):
        """A recording begins in the middle of the training: earlier samples do not count."""
        has_trained = self._has_trained
        self.restart()
        if has_trained:
            self.trained()

    def forked(self):
        """In a forked child, the threads no longer exist."""
        if self._library is not None:
            self._library.stepscope_lines_abandon()
        self._stop_counting()
        self._reset()

    def end(self):
        """Called when the program ends: writes the samples."""
        if not self._is_sampled:
            return
        self._ended.set()
        for thread in self._threads:
            thread.join(1.0)
        self._stop_counting()
        self.write()
        self._whole.stepscope_lines_stop()

    def _stop(self):
        self._ended.set()
        if self._library is not None:
            self._stop_counting()
            self._whole.stepscope_lines_stop()

    def _stop_counting(self):
        if self._allocations is not None:
            self._allocations.stop()

    def _write_repeatedly(self):
        """So that a program that is killed leaves most of its samples."""
        ended, pause = self._ended, _FIRST_WRITE
        while not ended.wait(pause):
            self.write()
            pause *= 3

    def _sample_repeatedly(self):
        ended, library, pause = self._ended, self._library, _INTERVAL
        while pause > 0 and not ended.wait(pause / 1e9):
            frame = sys._current_frames().get(self._target)
            if frame is None:
                return  # the training thread has ended
            pause = library.stepscope_lines_sample(frame)

    def _place(self, code, line):
        path = os.path.abspath(code.co_filename)
        file = self._files.setdefault(path, len(self._files))
        function = getattr(code, "co_qualname", code.co_name)
        return self._places.setdefault((file, line, function), len(self._places))

    @guarded
    def write(self):
        sampled, rest = [], []
        self._library.stepscope_lines_read(
            _PLACE(lambda code, line: sampled.append((code, line))), _REST(lambda text: rest.append(text.decode()))
        )
        if not rest:
            return
        self._places, self._files = {}, {}
        numbers = [self._place(code, line) for code, line in sampled]
        rest = rest[0]
        if numbers != list(range(len(numbers))):  # two code objects have the same line, for example after a reload
            members = json.loads(f"{{{rest}}}")
            members["stacks"] = [[numbers[place] for place in stack] for stack in members["stacks"]]
            rest = json.dumps(members, separators=(",", ":"))[1:-1]
        exact = self._exact()  # may add places
        document = {"schema": 1, "files": list(self._files), "places": list(self._places), "loops": self._loops()}
        if exact is not None:
            document["exact"] = exact
        text = json.dumps(document, separators=(",", ":"))
        self._session.metadata("lines", f"{text[:-1]},{rest}}}")

    def _loops(self):
        """The loop of each place."""
        facts = self._session.facts
        training = {
            (os.path.abspath(code.co_filename), line)
            for entry in facts.objects
            if entry.kind in ("backward", "optimizer_step", "zero_grad") and entry.call
            for code, _, line in entry.call.frames
        }
        paths, loops = list(self._files), []
        for path in paths:
            entry = facts.sources.file(path) if training else None
            known = sites.loops(entry[3]) if entry and entry[3] is not None else []
            trained = [line for name, line in training if name == path]
            loops.append([loop for loop in known if not any(loop[0] <= line <= loop[1] for line in trained)])
        return [self._loop_of(loops[file], line) for file, line, _ in self._places]

    @staticmethod
    def _loop_of(loops, line):
        around = [loop for loop in loops if loop[0] <= line <= loop[1]]
        innermost = max((function for _, _, function in around), default=0)  # a loop around a function does not count
        return next(([first, last] for first, last, function in around if function == innermost), [0, 0])

    def _exact(self):
        """place, bytes, number of each line; None: the allocations are those of the samples."""
        if self._allocations is None or not self._allocations.are_by_line:
            return None
        flat = []
        for code, line, size, number in self._allocations.lines():
            if number and sites.is_user_file(code.co_filename):
                flat += (self._place(code, line), size, number)
        return flat
