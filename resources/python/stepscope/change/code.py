"""Queries on the syntax tree of one file."""
import ast
import collections

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = FUNCTIONS + (ast.Lambda, ast.ClassDef, ast.Module)
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


class Code:
    def __init__(self, source):
        self.source = source
        self.tree = source.tree
        self._parents = {}
        self._calls = {}  # by end position, which is unique for each call
        self._blocks = {}  # by statement
        for node in ast.walk(self.tree):
            for child in ast.iter_child_nodes(node):
                self._parents[id(child)] = node
            if isinstance(node, ast.Call):
                self._calls.setdefault((node.end_lineno, node.end_col_offset), node)
            for name in _BLOCKS:
                block = getattr(node, name, None)
                if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                    for statement in block:
                        self._blocks[id(statement)] = block

    def parent(self, node):
        return self._parents.get(id(node))

    def ancestors(self, node):
        """Ancestors, starting with the parent."""
        node = self.parent(node)
        while node is not None:
            yield node
            node = self.parent(node)

    def contains(self, outer, node):
        return node is outer or any(ancestor is outer for ancestor in self.ancestors(node))

    def block(self, statement):
        """The list of statements that contains a statement."""
        return self._blocks[id(statement)]

    def statement(self, node):
        """The innermost statement that contains a node, or the node itself."""
        while node is not None and not isinstance(node, ast.stmt):
            node = self.parent(node)
        return node

    def function(self, node):
        """The function that contains a node; the module if there is none. Class bodies belong to their surroundings."""
        return next(scope for scope in self.ancestors(node) if isinstance(scope, FUNCTIONS + (ast.Lambda, ast.Module)))

    def scope(self, node):
        """The innermost function, class or module around a node."""
        return next(scope for scope in self.ancestors(node) if isinstance(scope, _SCOPES))

    def call_at(self, site):
        """The call expression of a site, or None.

        Since Python 3.12, the position of a method call begins at the method's name, so the end position is compared.
        """
        call = self._calls.get((site["end_line"], site["end_column"])) if site.get("end_line") else None
        if call is not None and (call.lineno, call.col_offset) <= (site["line"], site["column"]):
            return call
        if site.get("end_line"):
            return None
        on_line = [call for call in self._calls.values() if call.lineno == site["line"]]
        return on_line[0] if len(on_line) == 1 else None

    def within(self, scope):
        """Nodes of a function or module, without those of nested functions and classes."""
        queue = collections.deque(ast.iter_child_nodes(scope))
        while queue:
            node = queue.popleft()
            yield node
            if not isinstance(node, _SCOPES):
                queue.extend(ast.iter_child_nodes(node))

    def bindings(self, name, scope):
        """Nodes that bind or may bind a name in a scope: stores, deletions, imports, definitions."""
        found = []
        for node in self.within(scope):
            if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load):
                found.append(node)
            elif isinstance(node, FUNCTIONS + (ast.ClassDef,)) and node.name == name:
                found.append(node)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                found += [node for alias in node.names if (alias.asname or alias.name.split(".")[0]) == name]
            elif isinstance(node, ast.ExceptHandler) and node.name == name:
                found.append(node)
            elif isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names:
                found.append(node)
        return found

    def home(self, name, node):
        """The scope of the variable that a name refers to at a node: a function with such a parameter or binding, or
        the module."""
        for scope in self.ancestors(node):
            if isinstance(scope, FUNCTIONS + (ast.Lambda,)):
                if name in parameters(scope) or self.bindings(name, scope):
                    return scope
        return self.tree

    def names(self):
        """All names in the file, used to find an unused one."""
        names = {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name)}
        names.update(node.arg for node in ast.walk(self.tree) if isinstance(node, ast.arg))
        for node in ast.walk(self.tree):
            if isinstance(node, FUNCTIONS + (ast.ClassDef,)):
                names.add(node.name)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                names.update(alias.asname or alias.name.split(".")[0] for alias in node.names)
        return names

    def imported(self, node):
        """The full dotted name of an expression whose first name is imported: `optim.AdamW` after `from torch import
        optim` is torch.optim.AdamW. Otherwise the name as written; None if it is not a dotted name."""
        name = dotted(node)
        if name is None:
            return None
        first, _, rest = name.partition(".")
        for statement in ast.walk(self.tree):
            if isinstance(statement, ast.Import):
                for alias in statement.names:
                    if alias.asname == first:
                        return alias.name + ("." + rest if rest else "")
            elif isinstance(statement, ast.ImportFrom) and not statement.level:
                for alias in statement.names:
                    if (alias.asname or alias.name) == first:
                        return f"{statement.module}.{alias.name}" + ("." + rest if rest else "")
        return name

    def indentation(self):
        """One step of indentation: the first one in the file."""
        for node in ast.walk(self.tree):
            block = getattr(node, "body", None)
            if isinstance(node, ast.stmt) and isinstance(block, list) and block and block[0].lineno > node.lineno:
                outer, inner = self.source.indent(node.lineno), self.source.indent(block[0].lineno)
                if inner.startswith(outer) and len(inner) > len(outer):
                    return inner[len(outer):]
        return "    "

    def torch_name(self):
        """The name of the `torch` module at module level; None if it is not imported itself."""
        for statement in self.tree.body:
            if isinstance(statement, ast.Import):
                for alias in statement.names:
                    if alias.name == "torch" and alias.asname:
                        return alias.asname
                    if alias.name.split(".")[0] == "torch" and not alias.asname:
                        return "torch"
        return None

    def first_import(self):
        """The first import of the module, except from __future__; if there is none, its first statement."""
        for statement in self.tree.body:
            if isinstance(statement, ast.Import):
                return statement
            if isinstance(statement, ast.ImportFrom) and statement.module != "__future__":
                return statement
        rest = self.tree.body
        start = 0
        while start < len(rest) - 1 and (_is_docstring(rest[start]) or isinstance(rest[start], ast.ImportFrom)):
            start += 1
        return rest[start]

    def last_import(self):
        """The last import at module level before any other statement; None if there is none."""
        last = None
        for statement in self.tree.body:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                last = statement
            elif last is not None and not isinstance(statement, (ast.Try, ast.If)):
                break
        return last


def _is_docstring(statement):
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def dotted(node):
    """`a.b.c` as text; None for other expressions."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id] + parts[::-1])


def parameters(function):
    """Names of all parameters, starting with the positional ones in call order."""
    arguments = function.args
    names = [argument.arg for argument in getattr(arguments, "posonlyargs", []) + arguments.args + arguments.kwonlyargs]
    return names + [argument.arg for argument in (arguments.vararg, arguments.kwarg) if argument]


def positional(function):
    """Names of the parameters that can be passed by position."""
    return [argument.arg for argument in getattr(function.args, "posonlyargs", []) + function.args.args]


def mentions(node, names):
    """Whether a node contains a call of a function or method with one of these names."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            called = part.func.attr if isinstance(part.func, ast.Attribute) else getattr(part.func, "id", None)
            if called in names:
                return True
    return False


def site_of(path, first, last=None):
    """The site of a node, or the range between two nodes, in the format of the facts."""
    last = first if last is None else last
    return {
        "file": path, "line": first.lineno, "column": first.col_offset,
        "end_line": last.end_lineno, "end_column": last.end_col_offset,
    }
