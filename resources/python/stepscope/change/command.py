"""Changes of a program's command line.

The command may start the program through another one: `uv run`, `conda run`, torchrun, `accelerate launch`. Options of
the program follow the name of its script or module, and only words after it are changed. If the script is not on the
command line (`bash train.sh`, `sh -c "…"`), it is unknown whether an added option would reach it.
"""
import os
import shutil

from .edits import Refusal

_LAUNCHERS = (
    "uv", "conda", "mamba", "micromamba", "poetry", "pipenv", "pdm", "hatch", "rye", "pixi", "torchrun", "accelerate",
    "deepspeed", "mpirun", "mpiexec", "srun", "env", "nice", "time", "taskset", "numactl", "stdbuf",
)
_SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "fish", "csh", "tcsh")


def program_start(argv, program):
    """Index of the first word that is passed to the program itself.

    @param program  of the facts: script, module, cwd, argv
    @raises Refusal if the program is not on the command line, or does not receive the words after its name
    """
    start = _index_after_program(argv, program)
    if start is None:
        raise Refusal("launcher",
                      f"The command does not contain {_name(program)}, which is started by another program: an option "
                      "added to the command may not reach it.")
    if _is_shell(argv[:start]):
        raise Refusal("launcher", f"A shell script starts {_name(program)}: an option added to the command may "
                                  "not reach it.")
    recorded = program.get("argv") or []
    begun = _index_after_program(recorded, program)
    is_direct = start == 1 and _runs_script(argv[0], program)
    is_passed = is_direct or _passes_arguments(argv)
    if not is_passed and begun is not None and list(recorded[begun:]) != list(argv[start:]):
        raise Refusal("launcher",
                      f"{_name(program)} did not receive the options of the command, because the program that "
                      "starts it changes them.")
    return start


def _index_after_program(argv, program):
    """None if the program's script or module is not on the command line."""
    module, script = program.get("module"), program.get("script")
    for index, word in enumerate(argv):
        if module:
            if word in ("-m", "--module") and argv[index + 1 : index + 2] in ([module], [module + ".__main__"]):
                return index + 2
            if word == "-m" + module:
                return index + 1
        elif script and _is_script(word, script, program.get("cwd") or ""):
            return index + 1
    return None


def _is_script(word, script, folder):
    if not word or word.startswith("-"):
        return False
    path = os.path.normpath(os.path.join(folder, word))
    if path == script or os.path.realpath(path) == os.path.realpath(script) or script.endswith(os.sep + word):
        return True
    if os.path.isdir(path) and os.path.realpath(os.path.join(path, "__main__.py")) == os.path.realpath(script):
        return True
    # A console script that was found on PATH.
    return os.sep not in word and os.path.basename(script) == word and not word.endswith(".py")


def _runs_script(word, program):
    """Whether the command is the script itself: an executable file, or a console script on PATH."""
    path = os.path.join(program.get("cwd") or "", word) if os.sep in word else shutil.which(word)
    return bool(path and program.get("script")) and os.path.realpath(path) == os.path.realpath(program["script"])


def _is_shell(words):
    return any(os.path.basename(word) in _SHELLS or word.endswith(".sh") for word in words[:-1])


def _passes_arguments(argv):
    """Whether the command is known to pass all words after the program's name to it."""
    name = os.path.basename(argv[0])
    return name in _LAUNCHERS or name.startswith(("python", "pypy"))


def _name(program):
    return program.get("module") or os.path.basename(program.get("script") or "") or "the program"


def is_flag(argument):
    """Whether the option takes no value: store_true and store_false."""
    return isinstance(argument.get("default"), bool) and argument.get("type") in (None, "", "bool", "flag", "NoneType")


def set_option(argv, argument, text, start):
    """A new command line in which an option of the program has a value.

    @param argument  of the facts: dest, options, default, type
    @param text      the value as written on a command line; "true" or "false" for a flag
    @param start     index of the first word that is passed to the program itself
    """
    options = argument.get("options") or []
    if not options:
        raise Refusal("no_option", f"{argument['dest']} is a positional argument on the command line.")
    return list(argv[:start]) + _set(list(argv[start:]), argument, options, text)


def _set(words, argument, options, text):
    if not is_flag(argument):
        return _with_value(words, options, text)
    wanted = text in ("true", "True", "1")
    negatives = [option for option in options if option.startswith("--no-")]
    if negatives and len(negatives) < len(options):  # BooleanOptionalAction
        positives = [option for option in options if option not in negatives]
        return _added(_without(words, options), [_longest(positives if wanted else negatives)])
    words = _without(words, options)
    return words if wanted == argument["default"] else _added(words, [_longest(options)])


def _longest(options):
    return max(options, key=lambda option: (option.startswith("--"), len(option)))


def _end(words):
    """Where options end: at `--`, after which all words are positional arguments."""
    return words.index("--") if "--" in words else len(words)


def _added(words, parts):
    end = _end(words)
    return words[:end] + parts + words[end:]


def _without(words, options):
    end = _end(words)
    return [part for part in words[:end] if part not in options] + words[end:]


def _with_value(words, options, text):
    """Changes the last occurrence, which is the one that takes effect."""
    for index in range(_end(words) - 1, -1, -1):
        part = words[index]
        name, equals, _ = part.partition("=")
        is_long = name.startswith("--")
        if _names(name, options):
            if equals:
                return words[:index] + [f"{name}={text}"] + words[index + 1:]
            if index + 1 < len(words):
                return words[: index + 1] + [text] + words[index + 2:]
        short = next((option for option in options if len(option) == 2 and part.startswith(option) and len(part) > 2), None)
        if short and not is_long:
            return words[:index] + [short + text] + words[index + 1:]
    return _added(words, [_longest(options), text])


def _names(name, options):
    """argparse also accepts an unambiguous prefix of a long option; a prefix that the program accepted is
    unambiguous."""
    if name in options:
        return True
    return len(name) > 3 and name.startswith("--") and any(option.startswith(name) for option in options)
