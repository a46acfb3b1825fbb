"""IPython and Jupyter: `%load_ext stepscope`, then `%%stepscope` in front of a cell records it and shows the findings, each
with a link to the line that it is about.

    %%stepscope [-o run.sstrace] [--no-ops]
"""
import argparse
import html
import json
import os
import subprocess
import sys

from . import hooks, part, tracing


def load(shell):
    """Installs the hooks, so that objects of earlier cells are known with their lines."""
    tracing.wait_for_recordings()
    hooks.install_late()
    shell.register_magic_function(lambda line, cell: _record_cell(shell, line, cell), "cell", "stepscope")


def _options(line):
    parser = argparse.ArgumentParser(prog="%%stepscope", add_help=False, exit_on_error=False)
    parser.add_argument("-o", "--output", default="run.sstrace", help="trace file, which is overwritten")
    parser.add_argument("--no-ops", action="store_true", help="do not record PyTorch's operators")
    options, others = parser.parse_known_args(line.split())
    if others:
        raise ValueError(f"%%stepscope does not support {others[0]}. It accepts -o FILE and --no-ops.")
    return options


def _record_cell(shell, line, cell):
    try:
        options = _options(line)
    except (ValueError, argparse.ArgumentError) as error:
        print(error, file=sys.stderr)
        return None
    with part.recording(options.output, ops=not options.no_ops, quiet=True) as is_recorded:
        shell.run_cell(cell)
    if not is_recorded:
        return None
    findings = read_findings(options.output)
    if findings is not None:
        from IPython.display import display

        display(findings)
    return None


def read_findings(trace):
    """The findings of a trace; None, with a printed reason, if it cannot be read."""
    try:
        done = subprocess.run([part.find_cli(), "advise", "--json", trace], capture_output=True, text=True, timeout=300)
        advice = json.loads(done.stdout)["advice"]
    except (part.CannotRecord, OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", None) or locals().get("done") and done.stderr or error
        print(f"stepscope: the findings of {trace} cannot be shown: {said}", file=sys.stderr)
        return None
    return Findings(trace, [entry for entry in advice if entry.get("state") == "fires"], len(advice))


class Findings:
    """Findings about a recorded cell: as text in a terminal, with links in a notebook."""

    def __init__(self, trace, entries, rules):
        self.trace, self.entries, self.rules = trace, entries, rules

    def __len__(self):
        return len(self.entries)

    def _headline(self):
        count = len(self.entries)
        found = "No issues found" if count == 0 else "1 finding" if count == 1 else f"{count} findings"
        return f"{found} ({self.rules} rules). Trace: {self.trace}"

    def __repr__(self):
        lines = [self._headline()]
        for entry in self.entries:
            lines.append(f"• {entry['title']}: {entry['reason']}")
            lines += [f"    {_place(site)}" for site in _sites(entry)]
        return "\n".join(lines)

    def _repr_html_(self):
        items = []
        for entry in self.entries:
            links = ", ".join(_link(site) for site in _sites(entry))
            text = f"<b>{html.escape(entry['title'])}</b>: {html.escape(entry['reason'])}"
            items.append(f"<li>{text}{' — ' + links if links else ''}</li>")
        trace = html.escape(self.trace)
        head = html.escape(self._headline()).replace(trace, f'<a href="{trace}">{trace}</a>')
        return f"<p>{head}</p><ul>{''.join(items)}</ul>"


def _sites(entry):
    return [site for site in entry.get("source") or [] if isinstance(site, dict) and site.get("file")][:3]


def _place(site):
    return f"{_name(site)}:{site.get('line')}"


def _name(site):
    """The file name of a cell is artificial, or is in a temporary folder of the kernel."""
    path = site["file"]
    return "this cell" if path.startswith("<ipython") or "ipykernel_" in path else os.path.relpath(path)


def _link(site):
    text = html.escape(_place(site))
    return text if _name(site) == "this cell" else f'<a href="{html.escape(_name(site))}">{text}</a>'
