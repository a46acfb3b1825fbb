"""Loaded by each Python process that `stepscope-cli record` or an experiment starts, because this folder is first on
PYTHONPATH.

Installs the hooks of the recording or the experiment, then runs the sitecustomize that would have been loaded without
Stepscope. An error in the hooks is reported in one line, and the program runs as if it were not recorded.
"""
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _begin():
    is_recorded = os.environ.get("STEPSCOPE_RECORD") and os.environ.get("STEPSCOPE_LIBRARY")
    is_watched = is_recorded or os.environ.get("STEPSCOPE_ARM") or os.environ.get("STEPSCOPE_ALWAYS_ON")
    if not is_watched and not os.environ.get("STEPSCOPE_CHANGES"):
        return
    sys.path.insert(0, os.path.dirname(_HERE))
    try:
        from stepscope import changes, hooks
    finally:
        del sys.path[0]
    changes.install()
    if is_watched:
        hooks.install()


def _run_user_sitecustomize():
    """Runs the user's own sitecustomize as this module."""
    import importlib.machinery
    import importlib.util

    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


try:
    _begin()
except Exception as error:
    print(f"stepscope: Python loader waits and steps are not recorded: {error!r}", file=sys.stderr)
_run_user_sitecustomize()  # the user sees its errors, as without Stepscope
