"""Starts the programs that the wheel contains: the commands `stepscope` and `stepscope-cli`, and `python -m stepscope`."""
import os
import sys

_BIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_program", "bin")


def _become(name):
    program = os.path.join(_BIN, name)
    try:
        os.execv(program, [name, *sys.argv[1:]])  # keeps the process id, the terminal and the signals
    except OSError as error:
        sys.exit(f"{program} cannot be started: {error.strerror}. Reinstall it: pip install --force-reinstall stepscope")


def app():
    # A container may have neither fonts nor a configuration that finds them.
    if not os.path.exists("/etc/fonts/fonts.conf"):
        os.environ.setdefault("FONTCONFIG_FILE", os.path.join(os.path.dirname(_BIN), "share", "fonts", "fonts.conf"))
    _become("stepscope")


def cli():
    _become("stepscope-cli")


if __name__ == "__main__":
    app()
