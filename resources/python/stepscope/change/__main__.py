"""Reads a request from standard input, or from the file given by --request, and writes the answer to standard output.
See __init__.py."""
import importlib.util
import json
import os
import sys
import warnings

sys.dont_write_bytecode = True  # write no files, wherever this folder is
warnings.simplefilter("ignore")  # warnings of Python's parser about the user's files
sys.setrecursionlimit(20000)  # for the syntax trees of long expressions


def _package():
    """Imports this folder as a package, without making the modules next to it importable."""
    here = os.path.dirname(os.path.abspath(__file__))
    name = "stepscope_change"
    spec = importlib.util.spec_from_file_location(name, os.path.join(here, "__init__.py"), submodule_search_locations=[here])
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return importlib.import_module(name + ".plan"), importlib.import_module(name + ".edits")


def main():
    plan, edits = _package()
    try:
        with open(sys.argv[2], "rb") if sys.argv[1:2] == ["--request"] else sys.stdin.buffer as file:
            request = json.loads(file.read().decode("utf-8", "surrogateescape"))
        answer = plan.answer(request)
    except edits.Refusal as reason:
        answer = {"error": reason.message()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        answer = {"error": {"id": "change.request", "text": f"The request is invalid: {error!r}."}}
    json.dump(answer, sys.stdout)  # ASCII works with every terminal encoding
    return 0


if __name__ == "__main__":
    sys.exit(main())
