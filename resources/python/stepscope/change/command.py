"""Changes of the command line of a program that uses argparse."""
from .refusal import Refusal


def is_flag(argument):
    """Whether the option takes no value: store_true and store_false."""
    return isinstance(argument.get("default"), bool) and argument.get("type") in (None, "", "bool", "flag", "NoneType")


def set_option(argv, argument, text):
    """A new command line, with an argparse argument at a value.

    @param argument  of the facts: dest, options, default, type
    @param text      the value as it is written on a command line; "true" or "false" of a flag
    """
    options = argument.get("options") or []
    if not options:
        raise Refusal("no_option", f"{argument['dest']} is given by its position on the command line.")
    argv = list(argv)
    if not is_flag(argument):
        return _with_value(argv, options, text)
    wanted = text in ("true", "True", "1")
    negatives = [option for option in options if option.startswith("--no-")]
    if negatives and len(negatives) < len(options):  # BooleanOptionalAction
        positives = [option for option in options if option not in negatives]
        return _added(_without(argv, options), [_longest(positives if wanted else negatives)])
    argv = _without(argv, options)
    return argv if wanted == argument["default"] else _added(argv, [_longest(options)])


def _longest(options):
    return max(options, key=lambda option: (option.startswith("--"), len(option)))


def _end(argv):
    """Where options end: at `--`, which hands the rest to something else."""
    return argv.index("--") if "--" in argv else len(argv)


def _added(argv, parts):
    end = _end(argv)
    return argv[:end] + parts + argv[end:]


def _without(argv, options):
    end = _end(argv)
    return [part for part in argv[:end] if part not in options] + argv[end:]


def _with_value(argv, options, text):
    """Changes the last occurrence, which is the one that counts."""
    for index in range(_end(argv) - 1, -1, -1):
        part = argv[index]
        name, equals, _ = part.partition("=")
        is_long = name.startswith("--")
        if _names(name, options):
            if equals:
                return argv[:index] + [f"{name}={text}"] + argv[index + 1:]
            if index + 1 < len(argv):
                return argv[: index + 1] + [text] + argv[index + 2:]
        short = next((option for option in options if len(option) == 2 and part.startswith(option) and len(part) > 2), None)
        if short and not is_long:
            return argv[:index] + [short + text] + argv[index + 1:]
    return _added(argv, [_longest(options), text])


def _names(name, options):
    """argparse takes an unambiguous beginning of a long option too; what the program took is unambiguous."""
    if name in options:
        return True
    return len(name) > 3 and name.startswith("--") and any(option.startswith(name) for option in options)
