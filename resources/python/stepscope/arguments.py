"""The program's command line: options of argparse and click, and their values."""
import functools
import json
import os
import sys

_MOST = 300
_SPAWNER = "STEPSCOPE_SPAWNER"  # environment variable: the command line, passed on by the process that spawned this one
_MOST_BYTES = 64 * 1024  # in bytes; Linux starts no program with a variable of more than 128 KiB
_PLAIN = (bool, int, float, str, type(None))


class Arguments:
    """The options that the program's parsers found on the command line; for each name, the last parser wins."""

    def __init__(self):
        self._entries = {}
        self.words = [str(word) for word in getattr(sys, "orig_argv", [sys.executable, *sys.argv])][:500]
        spawner = os.environ.pop(_SPAWNER, None)
        if spawner is not None:
            try:
                command_line = json.loads(spawner)
                self.words = command_line["words"]
                self._entries = {entry["dest"]: entry for entry in command_line["arguments"]}
            except (ValueError, KeyError, TypeError):  # not written by pass_to_spawned()
                pass

    def pass_to_spawned(self, start):
        """Calls `start`, which starts a multiprocessing process. A spawned process runs Python's own command line, so
        it is given the command line of the program."""
        command_line = json.dumps({"words": self.words, "arguments": self.list()}, default=str)
        if len(command_line) > _MOST_BYTES:
            return start()
        os.environ[_SPAWNER] = command_line
        try:
            return start()
        finally:
            os.environ.pop(_SPAWNER, None)

    def add(self, dest, options, value, default, given, kind):
        if len(self._entries) < _MOST or dest in self._entries:
            self._entries[dest] = {
                "dest": dest,
                "options": [str(option) for option in options],
                "value": plain(value),
                "default": plain(default),
                "given": bool(given),
                "type": kind,
            }

    def list(self):
        return list(self._entries.values())

    def value(self, dest):
        """The value of an option; raises KeyError if there is no such option."""
        return self._entries[dest]["value"]

    def __contains__(self, dest):
        return dest in self._entries


def plain(value, depth=0):
    """A value in a form that JSON supports; other values as descriptive text."""
    if isinstance(value, float) and value not in (float("inf"), float("-inf")) and value == value:
        return value
    if isinstance(value, _PLAIN) and not isinstance(value, float):
        return value[:1000] if isinstance(value, str) else value
    if isinstance(value, (list, tuple)) and depth < 3:
        return [plain(part, depth + 1) for part in value[:50]]
    if isinstance(value, dict) and depth < 3:
        return {str(key): plain(part, depth + 1) for key, part in list(value.items())[:50]}
    return str(value)[:200]


def patch_argparse(module, arguments):
    """argparse: records what parse_known_args returns, for each of its options."""
    parse = module.ArgumentParser.parse_known_args
    depth = 0

    @functools.wraps(parse)
    def parse_known_args(self, args=None, namespace=None, *others, **named):
        nonlocal depth
        depth += 1
        try:
            result = parse(self, args, namespace, *others, **named)
        finally:
            depth -= 1
        try:
            if depth == 0 or result[0] is not None:
                _note_parser(module, self, result[0], sys.argv[1:] if args is None else list(args), arguments)
        except Exception:  # a user-defined parser may be any object
            pass
        return result

    module.ArgumentParser.parse_known_args = parse_known_args


def _note_parser(module, parser, namespace, words, arguments):
    for action in parser._actions:
        if action.dest in (module.SUPPRESS, "help") or not hasattr(namespace, action.dest):
            continue
        kind = getattr(action.type, "__name__", None) or ("bool" if action.nargs == 0 else "str")
        options = list(action.option_strings)
        given = any(word == option or word.startswith(option + "=") for word in words for option in options)
        value = getattr(namespace, action.dest)
        arguments.add(action.dest, options, value, action.default, given or (not options and value is not None), kind)


def patch_processes(module, arguments):
    """multiprocessing.process: passes the command line to processes that are started."""
    start = module.BaseProcess.start

    @functools.wraps(start)
    def recorded_start(self):
        return arguments.pass_to_spawned(functools.partial(start, self))

    module.BaseProcess.start = recorded_start


def patch_click(module, arguments):
    """click.core, on which typer is based: records the parameters of each command that is called."""
    invoke = module.Command.invoke

    @functools.wraps(invoke)
    def recorded_invoke(self, ctx):
        try:
            for parameter in self.params:
                source = ctx.get_parameter_source(parameter.name)
                arguments.add(
                    parameter.name,
                    list(parameter.opts),
                    ctx.params.get(parameter.name),
                    parameter.default,
                    source is not None and source.name == "COMMANDLINE",
                    getattr(parameter.type, "name", "str"),
                )
        except Exception:
            pass
        return invoke(self, ctx)

    module.Command.invoke = recorded_invoke
