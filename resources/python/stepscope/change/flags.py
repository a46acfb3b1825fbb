"""Process-wide settings and debugging tools: backend flags, anomaly detection, profilers, gradient checks."""
import ast

from .arguments import Frame, frames_of, set_argument
from .code import dotted, site_of
from .edits import Insert, Refusal, Remove, Replace
from .loops import torch_in


def cudnn_benchmark(work, wanted):
    value = "True" if wanted else "False"
    if not _assign(work, "backends.cudnn.benchmark", value):
        _add_line(work, lambda torch: f"{torch}.backends.cudnn.benchmark = {value}")


def tf32(work, wanted):
    found = _assign(work, "backends.cuda.matmul.allow_tf32", "True" if wanted else "False")
    precision = '"high"' if wanted else '"highest"'
    for code, call in _calls(work, ("torch.set_float32_matmul_precision",)):
        set_argument(work, [site_of(code.source.path, call)], "precision", 0, precision)
        found = True
    if not found:
        _add_line(work, lambda torch: f"{torch}.set_float32_matmul_precision({precision})")


def _assign(work, name, value):
    """Changes each assignment of a torch flag in the user's files. Returns False if none of them runs
    unconditionally."""
    found = False
    for path in work.paths():
        code = work.code(path)
        for node in ast.walk(code.tree):
            if not isinstance(node, ast.Assign):
                continue
            if any((code.imported(target) or "") == "torch." + name for target in node.targets):
                found = found or not isinstance(code.parent(node), (ast.If, ast.Try, ast.ExceptHandler, ast.While, ast.For))
                if code.source.segment(node.value) != value:
                    work.edit(code, Replace(node.value, value))
    return found


def _calls(work, names):
    """Calls of functions with these full names in the user's files."""
    for path in work.paths():
        code = work.code(path)
        for node in ast.walk(code.tree):
            if isinstance(node, ast.Call) and code.imported(node.func) in names:
                yield code, node


def _add_line(work, line):
    """Adds a line after the statement that creates the model, else after the imports of the main script."""
    models = [item for item in work.objects("model") if item.get("site")]
    if len(models) == 1:
        frame = Frame(work, frames_of(work, models[0])[0])
        statement = frame.code.statement(frame.call)
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr)):
            work.edit(frame.code, Insert(statement, line(torch_in(work, frame.code)), rank=0))
            return
    script = work.program.get("script")
    if not script:
        raise Refusal("no_site", "No place for this line was found in your files.")
    code = work.code(script)
    last = code.last_import()
    if last is None:
        raise Refusal("no_site", f"{script} has no imports at its beginning.")
    work.edit(code, Insert(last, line(torch_in(work, code)), rank=0))


# Tools for debugging

def anomaly_off(work):
    for item in _recorded(work, "anomaly", "Anomaly detection is not on."):
        sites = frames_of(work, item)
        frame = Frame(work, sites[0])
        name = (dotted(frame.call.func) or "").split(".")[-1]
        if name == "set_detect_anomaly":
            _remove_or_disable(work, frame, lambda: set_argument(work, sites, "mode", 0, "False"))
        elif name == "detect_anomaly":
            torch = torch_in(work, frame.code)
            work.edit(frame.code, Replace(frame.call, f"{torch}.autograd.set_detect_anomaly(False)"))
        else:
            raise Refusal("no_call", f"Line {frame.call.lineno} does not turn on anomaly detection directly.")


def emit_nvtx_off(work):
    for item in _recorded(work, "emit_nvtx", "emit_nvtx is not on."):
        set_argument(work, frames_of(work, item), "enabled", 0, "False")


def profiler_off(work):
    for item in _recorded(work, "profiler", "No PyTorch profiler is on."):
        sites = frames_of(work, item)
        frame = Frame(work, sites[0])
        name = frame.code.imported(frame.call.func) or ""
        if name.startswith("torch.autograd.profiler"):
            _refuse_other_uses(frame, ())  # a disabled profiler gives the `with` no value
            set_argument(work, sites, "enabled", 0, "False")
        elif name.startswith("torch.profiler"):
            _schedule_none(work, frame, sites)
        else:
            raise Refusal("no_call", f"Line {frame.call.lineno} does not construct a profiler directly.")


def _schedule_none(work, frame, sites):
    """Gives the profiler a schedule that never records; safe if the program calls only its step()."""
    _refuse_other_uses(frame, ("step",))
    code = frame.code
    torch = torch_in(work, code)
    set_argument(work, sites, "schedule", None, f"lambda _: {torch}.profiler.ProfilerAction.NONE")


def _refuse_other_uses(frame, methods):
    """Refuses the change if the program uses more of the profiler than these methods."""
    code = frame.code
    parent = code.parent(frame.call)
    if not isinstance(parent, ast.withitem):
        raise Refusal("by_hand", "The profiler is stored in a variable, and it is unknown how the program uses it.")
    name = dotted(parent.optional_vars) if parent.optional_vars is not None else None
    for node in ast.walk(code.tree):
        if name and isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            use = code.parent(node)
            if not isinstance(use, ast.Attribute) or use.attr not in methods:
                raise Refusal("by_hand", f"Line {node.lineno} uses the recorded profile.")


def gradient_check_off(work, name):
    found = False
    for code, call in _calls(work, ("torch.autograd." + name, "torch.autograd.gradcheck." + name)):
        statement = code.statement(call)
        whole = isinstance(statement, ast.Expr) and statement.value is call
        asserted = isinstance(statement, ast.Assert) and statement.test is call
        if whole or asserted:
            work.edit(code, Remove(statement))
        else:
            work.edit(code, Replace(call, "True"))
        found = True
    if not found:
        raise Refusal("no_site", f"{name} is not called in your files.")


def _recorded(work, kind, otherwise):
    items = work.objects(kind)
    if not items:
        raise Refusal("already", otherwise)
    return items


def _remove_or_disable(work, frame, disable):
    statement = frame.code.statement(frame.call)
    if isinstance(statement, ast.Expr) and statement.value is frame.call:
        work.edit(frame.code, Remove(statement))
    else:
        disable()
