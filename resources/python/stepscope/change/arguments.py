"""Sets an argument of a call, wherever its value is written: at the call, in the dictionary that is passed as
`**kwargs`, or in the user's own call of the function or subclass that passes it on."""
import ast

from .code import FUNCTIONS, dotted, parameters, positional
from .edits import Item, Keyword, Merge, Refusal, Replace


class Frame:
    """One call of the chain that leads to an object, starting with the innermost user frame."""

    def __init__(self, work, site):
        self.site = site
        self.code = work.code(site["file"])
        self.call = self.code.call_at(site)
        if self.call is None:
            raise Refusal("no_call", f"There is no call at {site['file']}:{site['line']}.")


def frames_of(work, recorded):
    """The frames of an object of the facts, not resolved yet: outer ones may be in unreadable files."""
    site = recorded.get("site")
    if not site:
        raise Refusal("no_site", f"{recorded['class'] or recorded['kind']} is not constructed in your files.")
    return [site] + list(recorded.get("chain") or [])


def set_argument(work, sites, name, position, source, given=None):
    """Changes the call at sites[0] so that it gets `name=source`.

    @param position  of the parameter among positional arguments; None: keyword only
    @param given     whether the recorded call had the argument; None: unknown
    """
    frame = Frame(work, sites[0])
    if _is_base_call(frame.call) and position is not None:
        position += 1  # Base.__init__(self, …)
    code, call = frame.code, frame.call
    for keyword in call.keywords:
        if keyword.arg == name:
            _set_value(work, sites, code, keyword.value, source)
            return
    starred = next((index for index, part in enumerate(call.args) if isinstance(part, ast.Starred)), None)
    if position is not None and position < len(call.args if starred is None else call.args[:starred]):
        _set_value(work, sites, code, call.args[position], source)
        return
    if starred is not None and position is not None and given is not False:
        before = starred + _length(code, call.args[starred])
        if before > position or any(isinstance(part, ast.Starred) for part in call.args[starred + 1:]):
            raise Refusal("starred", f"{name} may be among the starred arguments in line {call.lineno}.")
    doubles = [keyword for keyword in call.keywords if keyword.arg is None]
    if not doubles:
        work.edit(code, Keyword(call, name, source))
        return
    if len(doubles) > 1:
        raise Refusal("starred", f"Line {call.lineno} passes several dictionaries of arguments.")
    _set_in_mapping(work, sites, code, call, doubles[0], name, source)


def _is_base_call(call):
    """Whether this is `Base.__init__(self, …)`, as opposed to `super().__init__(…)`."""
    function = call.func
    return isinstance(function, ast.Attribute) and function.attr == "__init__" and not isinstance(function.value, ast.Call)


def _length(code, starred):
    """Number of arguments that a starred one stands for; a large number if it is unknown."""
    value = starred.value
    if isinstance(value, ast.Name):
        scope = code.home(value.id, value)
        stores = code.bindings(value.id, scope)
        statement = code.statement(stores[0]) if len(stores) == 1 else None
        if isinstance(statement, ast.Assign) and statement.targets == [stores[0]]:
            value = statement.value
    if isinstance(value, (ast.Tuple, ast.List)) and not any(isinstance(part, ast.Starred) for part in value.elts):
        return len(value.elts)
    return 1000


def _set_value(work, sites, code, value, source):
    """Changes a value where it is written; a value that comes from a parameter is changed in the call of the
    function."""
    if isinstance(value, ast.Name) and len(sites) > 1 and _set_in_caller(work, sites, code, value, value.id, source):
        return
    if code.source.segment(value) == source:
        return
    work.edit(code, Replace(value, source))


def _set_in_caller(work, sites, code, node, parameter, source):
    """Sets an argument in the call of the enclosing function. False if that is not the recorded caller."""
    function = code.function(node)
    if not isinstance(function, FUNCTIONS) or parameter not in parameters(function) or code.bindings(parameter, function):
        return False
    try:
        outer = Frame(work, sites[1])
    except Refusal:
        return False
    is_static = any(dotted(decorator) == "staticmethod" for decorator in function.decorator_list)
    is_method = isinstance(code.parent(function), ast.ClassDef) and not is_static
    called = (dotted(outer.call.func) or "").split(".")[-1]
    if function.name == "__init__":
        owner = code.parent(function)
        if called != owner.name and outer.code.imported(outer.call.func) != owner.name:
            return False
    elif called != function.name:
        return False
    names = positional(function)
    is_keyword_mapping = function.args.kwarg is not None and function.args.kwarg.arg == parameter
    if is_keyword_mapping or (function.args.vararg is not None and function.args.vararg.arg == parameter):
        return False
    position = names.index(parameter) - int(is_method) if parameter in names else None
    set_argument(work, sites[1:], parameter, position, source)
    return True


def _set_in_mapping(work, sites, code, call, double, name, source):
    value = double.value
    if isinstance(value, ast.Name) and len(sites) > 1 and _set_through_kwargs(work, sites, code, value, name, source):
        return
    builders = _Builders(code, name)
    builders.visit(value)
    if builders.unknown:
        work.edit(code, Merge(double, name, source))
        return
    if not builders.places:
        work.edit(code, Keyword(call, name, source))
        return
    for place in builders.places:
        if code.source.segment(place) != source:
            work.edit(code, Replace(place, source))
    for base in builders.bases_without:
        work.edit(code, Item(base, name, source))


def _set_through_kwargs(work, sites, code, value, name, source):
    """For `def make(data, **kwargs): return DataLoader(data, **kwargs)`, the argument belongs in the call of make()."""
    function = code.function(value)
    if not isinstance(function, FUNCTIONS) or function.args.kwarg is None or function.args.kwarg.arg != value.id:
        return False
    if code.bindings(value.id, function) or _is_touched(code, function, value.id):
        return False
    if name in parameters(function):
        return False
    try:
        outer = Frame(work, sites[1])
    except Refusal:
        return False
    called = (dotted(outer.call.func) or "").split(".")[-1]
    owner = code.parent(function)
    if called not in (function.name, getattr(owner, "name", None)):
        return False
    set_argument(work, sites[1:], name, None, source)
    return True


def _is_touched(code, function, name):
    """Whether a mapping may be changed in a function, because it is used for more than unpacking and reading."""
    for node in code.within(function):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            parent = code.parent(node)
            if not (isinstance(parent, ast.keyword) and parent.arg is None):
                return True
    return False


class _Builders:
    """All places that write one key of a mapping.

    places: values of the key. bases_without: dictionaries from which the mapping is initialized and that lack the key;
    it is added to them if other ones have it. unknown: the mapping may get the key from another place.
    """

    def __init__(self, code, name):
        self._code, self._name = code, name
        self._seen = set()
        self.places, self.bases_without, self.unknown = [], [], False

    def visit(self, value, is_base=True):
        """@param is_base  whether the mapping is initialized with this value; otherwise it is only merged into the
        mapping"""
        if isinstance(value, ast.Dict):
            self._display(value, is_base)
        elif isinstance(value, ast.IfExp):
            self.visit(value.body, is_base)
            self.visit(value.orelse, is_base)
        elif isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "dict":
            self._dict_call(value, is_base)
        elif isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr):
            self.visit(value.left, is_base)
            self.visit(value.right, False)
        elif (
            isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)
            and value.func.attr == "copy" and not value.args
        ):
            self.visit(value.func.value, is_base)
        elif isinstance(value, ast.Name):
            self._variable(value, is_base)
        else:
            self.unknown = True

    def _display(self, value, is_base):
        found = [part for key, part in zip(value.keys, value.values) if isinstance(key, ast.Constant) and key.value == self._name]
        self.places += found
        for key, part in zip(value.keys, value.values):
            if key is None:
                self.visit(part, False)
            elif not isinstance(key, ast.Constant):
                self.unknown = True
        if is_base and not found:
            self.bases_without.append(value)

    def _dict_call(self, value, is_base):
        found = [keyword.value for keyword in value.keywords if keyword.arg == self._name]
        self.places += found
        for part in value.args + [keyword.value for keyword in value.keywords if keyword.arg is None]:
            self.visit(part, False)
        # dict(other, key=…) is valid, dict(**other, key=…) would pass the key twice.
        doubles = any(keyword.arg is None for keyword in value.keywords)
        if is_base and not found:
            if doubles:
                self.unknown = True
            else:
                self.bases_without.append(value)

    def _variable(self, name, is_base):
        code = self._code
        scope = code.home(name.id, name)
        if (name.id, id(scope)) in self._seen:
            return
        self._seen.add((name.id, id(scope)))
        if not isinstance(scope, ast.Module) and name.id in parameters(scope):
            self.unknown = True
            return
        stores = code.bindings(name.id, scope)
        if not stores:
            self.unknown = True
        for store in stores:
            statement = code.statement(store)
            if isinstance(statement, ast.Assign) and store in statement.targets:
                self.visit(statement.value, is_base)
            elif isinstance(statement, ast.AnnAssign) and statement.target is store and statement.value is not None:
                self.visit(statement.value, is_base)
            elif isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.BitOr):
                self.visit(statement.value, False)
            else:
                self.unknown = True
        for node in ast.walk(scope):
            if isinstance(node, ast.Name) and node.id == name.id and isinstance(node.ctx, ast.Load):
                if code.home(name.id, node) is scope:
                    self._use(node)

    def _use(self, node):
        """Examines one use of the mapping's variable."""
        code = self._code
        parent = code.parent(node)
        outer = code.parent(parent)
        if isinstance(parent, ast.Subscript) and parent.value is node:
            index = parent.slice
            index = getattr(index, "value", index) if type(index).__name__ == "Index" else index  # Python 3.8
            if isinstance(parent.ctx, ast.Load):
                return
            if not isinstance(index, ast.Constant) or isinstance(parent.ctx, ast.Del):
                self.unknown = True
            elif index.value == self._name:
                if isinstance(outer, ast.Assign) and parent in outer.targets:
                    self.places.append(outer.value)
                else:
                    self.unknown = True
        elif isinstance(parent, ast.Attribute):
            self._method(parent, outer)
        elif isinstance(parent, ast.keyword) and parent.arg is None:
            return  # unpacked
        elif isinstance(parent, ast.Dict) or isinstance(parent, (ast.Compare, ast.BinOp, ast.IfExp)):
            return  # read
        elif isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id in ("dict", "print", "len", "str", "repr"):
            return
        elif isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr == "update":
            return  # another mapping is updated from this one
        elif isinstance(parent, (ast.FormattedValue, ast.Return)) or isinstance(parent, ast.AugAssign):
            return
        else:
            self.unknown = True  # passed to code that may change it

    def _method(self, attribute, call):
        if not isinstance(call, ast.Call) or call.func is not attribute:
            self.unknown = True
        elif attribute.attr in ("get", "keys", "items", "values", "copy"):
            return
        elif attribute.attr == "update":
            for part in call.args:
                self.visit(part, False)
            for keyword in call.keywords:
                if keyword.arg == self._name:
                    self.places.append(keyword.value)
                elif keyword.arg is None:
                    self.visit(keyword.value, False)
        elif attribute.attr == "setdefault" and call.args and isinstance(call.args[0], ast.Constant):
            if call.args[0].value == self._name:
                self.unknown = True
        else:
            self.unknown = True
