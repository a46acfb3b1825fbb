"""The primitive edits of one file. Each is implemented twice: as a splice of the text, and as a transformation of the
syntax tree. A new text is accepted only if parsing it gives exactly the transformed tree, so that the text differs from
the original in nothing but the change.

Edits refer to nodes of the original tree, and all are rendered at once: the order in which they were added does not
matter.
"""
import ast
import codecs
import hashlib

from .config_values import entries, is_value, lines_of, rewritten


class Refusal(Exception):
    """The reason why a change is not made, an expected failure: its message and id go into the answer."""

    def __init__(self, identifier, text):
        super().__init__(text)
        self.id = "change." + identifier
        self.text = text

    def message(self):
        return {"id": self.id, "text": self.text}


def expression(source):
    """The syntax tree of an expression."""
    return ast.parse(source, mode="eval").body


def statements(source):
    """The syntax trees of statements."""
    return ast.parse(source).body


class Edit:
    """Two edits with equal keys change the same place; they are one edit if their content is equal too."""

    def __init__(self, key, content):
        self.key, self.content = key, content


class Replace(Edit):
    """Replaces an expression."""

    def __init__(self, node, source):
        super().__init__(("replace", id(node)), source)
        self.node, self.source = node, source


class Keyword(Edit):
    """Adds a keyword argument to a call that does not have it."""

    def __init__(self, call, name, source):
        super().__init__(("keyword", id(call), name), source)
        self.node, self.name, self.source = call, name, source


class Item(Edit):
    """Adds a key to a dictionary display, or to a call of dict(), that does not have it."""

    def __init__(self, display, name, source):
        super().__init__(("item", id(display), name), source)
        self.node, self.name, self.source = display, name, source


class Merge(Edit):
    """Turns `**x` of a call into `**{**x, "name": value}`, which is correct whatever x contains."""

    def __init__(self, keyword, name, source):
        super().__init__(("merge", id(keyword), name), source)
        self.node, self.name, self.source = keyword, name, source


class Insert(Edit):
    """Inserts a statement before or after another one. rank: order among insertions at the same place."""

    def __init__(self, statement, source, before=False, rank=0):
        super().__init__(("insert", id(statement), before, source), source)
        self.node, self.source, self.before, self.rank = statement, source, before, rank


class Remove(Edit):
    """Removes a statement; if its block has no other statement, it gets `pass`."""

    def __init__(self, statement):
        super().__init__(("remove", id(statement)), None)
        self.node = statement


class Wrap(Edit):
    """Moves consecutive statements of a block into a `with`. header: "with torch.no_grad():"."""

    def __init__(self, first, last, header):
        super().__init__(("wrap", id(first), id(last), header), None)
        self.node, self.last, self.header = first, last, header


class Edits:
    """The edits of one file."""

    def __init__(self, code):
        self._code = code
        self._source = code.source
        self._edits = {}

    def __bool__(self):
        return bool(self._edits)

    def add(self, edit):
        known = self._edits.get(edit.key)
        if known is not None and known.content != edit.content:
            line = getattr(edit.node, "lineno", None)
            raise Refusal("conflict", f"Another change modifies line {line} of {self._source.path} differently.")
        self._edits[edit.key] = edit

    def copy(self):
        """Edit objects are immutable: a copy can be tried and dropped."""
        other = type(self)(self._code)
        other._edits = dict(self._edits)
        return other

    def nodes_not_in(self, other):
        """First and last nodes of the edits that `other` (a copy or None) does not contain."""
        for key, edit in self._edits.items():
            if other is None or key not in other._edits:
                yield edit.node, getattr(edit, "last", edit.node)

    def render(self):
        """The new text, checked.

        @raises Refusal if edits overlap, or if the text does not have the meaning of the edits
        """
        if not self._edits:
            return self._source.text
        text = _Splices(self._code, self._edits.values()).text()
        expected = _Transformed(self._code, self._edits.values()).dump()
        try:
            found = ast.dump(ast.parse(text))
        except (SyntaxError, ValueError) as error:
            raise Refusal("not_spliced", f"{self._source.path} cannot be changed in place: {error}.") from None
        if found != expected:
            raise Refusal("not_spliced", f"{self._source.path} cannot be changed in place without further changes.")
        return text


def _grouped(edits, kind):
    """Edits of a kind grouped by node, sorted by name within a node."""
    groups = {}
    for edit in edits:
        if isinstance(edit, kind):
            groups.setdefault(id(edit.node), []).append(edit)
    return [sorted(group, key=lambda edit: edit.name) for group in groups.values()]


def _of(edits, kind):
    return [edit for edit in edits if isinstance(edit, kind)]


def _inserts(edits):
    """Insertions in their order at each place, each as a separate statement."""
    return sorted(_of(edits, Insert), key=lambda edit: (edit.rank, edit.source))


class _Splices:
    """The edits as replacements of ranges in the text."""

    def __init__(self, code, edits):
        self._code, self._source = code, code.source
        self._pieces = []  # (start, end, order at equal places, replacement)
        self._wraps = _of(edits, Wrap)
        self._removed = {id(edit.node) for edit in _of(edits, Remove)}
        self._removed_lines = set()
        for edit in _of(edits, Replace):
            self._put(*self._source.span(edit.node), edit.source)
        for group in _grouped(edits, Keyword):
            self._append(group[0].node, [f"{edit.name}={edit.source}" for edit in group])
        for group in _grouped(edits, Item):
            is_call = isinstance(group[0].node, ast.Call)
            self._append(group[0].node, [f"{e.name}={e.source}" if is_call else f'"{e.name}": {e.source}' for e in group])
        for group in _grouped(edits, Merge):
            start, end = self._source.span(group[0].node.value)
            self._put(start, start, "{**" + self._opening(group[0].node.value), order=-1)
            items = "".join(f', "{edit.name}": {edit.source}' for edit in group)
            # Insert before keywords that the call gets at the same place.
            self._put(end, end, self._closing(group[0].node.value) + items + "}", order=-0.9)
        for edit in _of(edits, Remove):
            self._remove(edit.node)
        self._insert_all(_inserts(edits))
        self._wrap_all()

    def text(self):
        text, result, at = self._source.text, [], 0
        for start, end, _, replacement in sorted(self._pieces, key=lambda piece: piece[:3]):
            if start < at:
                raise Refusal("conflict", f"Two changes overlap in {self._source.path}.")
            result += [text[at:start], replacement]
            at = end
        return "".join(result) + text[at:]

    def _put(self, start, end, replacement, order=0):
        self._pieces.append((start, end, order, replacement))

    @staticmethod
    def _opening(value):
        """In a dictionary display, `**` binds like a unary operator: `**a or b` needs parentheses."""
        return "" if isinstance(value, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Dict)) else "("

    @staticmethod
    def _closing(value):
        return ")" if _Splices._opening(value) else ""

    def _append(self, node, items):
        """Adds items at the end of a call's arguments or of a dictionary display."""
        source = self._source
        close = source.span(node)[1] - 1
        before = source.token_before(close)
        is_empty = (
            not node.keys if isinstance(node, ast.Dict) else not node.args and not node.keywords
        )
        if is_empty:
            self._put(before.end, before.end, ", ".join(items))
            return
        has_comma = before.text == ","
        last = source.token_before(before.start) if has_comma else before
        if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords and not has_comma:
            argument = node.args[0]
            if isinstance(argument, ast.GeneratorExp) and source.span(argument)[1] == close + 1:
                start = source.span(argument)[0]  # the generator shares the parentheses of the call
                self._put(start, start, "(")
                self._put(before.end, before.end, "), " + ", ".join(items), order=1)
                return
        indent = self._own_line_indent(node, last)
        if indent is None:
            tail = "" if not has_comma else ","
            self._put(before.end, before.end, (" " if has_comma else ", ") + ", ".join(items) + tail)
            return
        statement = self._code.statement(node)
        indent += self._unit(statement) * len(self._wraps_over(statement))
        line = source.line_of(last.end - 1)
        newline = source.newline(line)
        rows = [newline + indent + item + "," for item in items]
        if not has_comma:
            self._put(before.end, before.end, ",")
            rows[-1] = rows[-1][:-1]
        # Insert after a comment on the last argument's line, but before the closing bracket.
        at = before.end if source.line_of(close) == source.line_of(before.end - 1) else source.line_content_end(
            source.line_of(before.end - 1)
        )
        self._put(at, at, "".join(rows), order=1)

    def _own_line_indent(self, node, last):
        """The white space before the last argument if each argument is on its own line; otherwise None."""
        source = self._source
        parts = (list(node.keys) + list(node.values)) if isinstance(node, ast.Dict) else (
            list(node.args) + [keyword.value for keyword in node.keywords]
        )
        starts = sorted(source.span(part)[0] for part in parts if part is not None)
        line = source.line_of(starts[-1])
        if line == node.lineno or last.start < starts[-1]:
            return None
        first = source.token_from(source.line_start(line))
        before = source.token_before(first.start) if first is not None else None
        if before is None or before.text not in ("(", ",", "{") or source.starts_in_string(line):
            return None
        return source.indent(line) if source.text[source.line_start(line):first.start].strip() == "" else None

    # Statements

    def _is_alone(self, statement):
        """Whether no other statement is on the lines of a statement."""
        source, (start, end) = self._source, self._span(statement)
        first = source.token_from(source.line_start(source.line_of(start)))
        following = source.token_from(end)
        last_line = source.line_of(max(end - 1, start))
        return first.start == start and (following is None or following.start >= source.line_content_end(last_line))

    def _span(self, statement):
        start, end = self._source.span(statement)
        for decorator in getattr(statement, "decorator_list", ()):
            start = min(start, self._source.token_before(self._source.span(decorator)[0]).start)
        return start, end

    def _lines(self, statement):
        start, end = self._span(statement)
        return self._source.line_of(start), self._source.line_of(max(end - 1, start))

    def _remove(self, statement):
        source = self._source
        block = self._code.block(statement)
        (start, end), (first, last) = self._span(statement), self._lines(statement)
        if all(id(other) in self._removed for other in block):
            if statement is block[0]:
                self._put(start, end, "pass")
                return
        following, before = source.token_from(end), source.token_before(start)
        starts_line = source.token_from(source.line_start(first)).start == start
        ends_line = following is None or source.line_of(following.start) > last
        if following is not None and following.text == ";":
            successor = source.token_from(following.end)
            ends_line = successor is None or source.line_of(successor.start) > last
        if starts_line and ends_line:
            self._put(source.line_start(first), source.line_start(last + 1), "")
            self._removed_lines.update(range(first, last + 1))
            return
        if following is not None and following.text == ";" and source.line_of(following.start) == last:
            successor = source.token_from(following.end)
            if successor is not None and source.line_of(successor.start) == last:
                self._put(start, successor.start, "")
                return
        if before is not None and before.text == ";":
            if id(block[block.index(statement) - 1]) in self._removed:
                raise Refusal("conflict", f"Line {first} of {source.path} contains several statements to remove.")
            self._put(before.start, end, "")
            return
        raise Refusal("not_spliced", f"The statement in line {first} of {source.path} cannot be removed in place.")

    def _insert_all(self, inserts):
        places = {}
        for edit in inserts:
            places.setdefault((id(edit.node), edit.before), []).append(edit)
        for group in places.values():
            statement, before = group[0].node, group[0].before
            if id(statement) in self._removed:
                raise Refusal("conflict", f"Line {statement.lineno} of {self._source.path} is removed by another change.")
            self._insert(statement, before, [edit.source for edit in group])

    def _insert(self, statement, before, lines):
        source = self._source
        (start, end), (first, last) = self._span(statement), self._lines(statement)
        if not self._is_alone(statement):
            if not isinstance(statement, _SIMPLE) or any(not isinstance(part, _SIMPLE) for part in statements("\n".join(lines))):
                raise Refusal("not_spliced", f"Nothing can be inserted at line {first} of {source.path}.")
            if before:
                self._put(start, start, "; ".join(lines) + "; ")
            else:
                self._put(end, end, "; " + "; ".join(lines))
            return
        indent = source.indent(first) + self._unit(statement) * self._wraps_around(statement, before)
        newline = source.newline(first if before else last)
        # The lines of a compound statement are indented separately.
        rows = [row for line in lines for row in line.split("\n")]
        if before:
            at = source.line_start(first)
            self._put(at, at, "".join(indent + row + newline for row in rows), order=-1)
            return
        at = source.line_start(last + 1)
        if source.line(last).endswith(("\n", "\r")):
            self._put(at, at, "".join(indent + row + newline for row in rows), order=-2)
        else:
            self._put(at, at, "".join(newline + indent + row for row in rows), order=-2)

    def _unit(self, statement):
        """One step of indentation in this file."""
        parent = self._code.parent(statement)
        own = self._source.indent(self._lines(statement)[0])
        if isinstance(parent, ast.stmt) and parent.lineno != statement.lineno:
            outer = self._source.indent(parent.lineno)
            if own.startswith(outer) and len(own) > len(outer):
                return own[len(outer):]
        return self._code.indentation()

    def _wrapped_statements(self, wrap):
        block = self._code.block(wrap.node)
        return block[block.index(wrap.node): block.index(wrap.last) + 1]

    def _wraps_around(self, statement, before):
        """Number of wraps around an insertion at a statement. Insertions before the first statement of a wrap or after
        its last statement are outside of it."""
        return sum(statement is not (wrap.node if before else wrap.last) for wrap in self._wraps_over(statement))

    def _wraps_over(self, statement):
        """The wraps that a statement is in."""
        over, node = [], statement
        while node is not None:
            over += [wrap for wrap in self._wraps if any(node is part for part in self._wrapped_statements(wrap))]
            node = self._code.parent(node)
        return over

    def _wrap_all(self):
        source = self._source
        indents = {}  # by line: (position, text) to insert for each wrap
        for wrap in sorted(self._wraps, key=lambda wrap: (wrap.node.lineno, -wrap.last.end_lineno, wrap.header)):
            covered = self._wrapped_statements(wrap)
            if not covered or any(not self._is_alone(part) for part in (covered[0], covered[-1])):
                raise Refusal("not_spliced", f"Line {wrap.node.lineno} of {source.path} contains several statements.")
            first, last = self._lines(covered[0])[0], self._lines(covered[-1])[1]
            own, unit = source.indent(first), self._unit(covered[0])
            depth = len(indents.get(first, ()))  # number of wraps around this one
            at = source.line_start(first)
            # Insert after the text that other wraps insert at the line start, before the statement's own indentation.
            self._put(at, at, own + unit * depth + wrap.header + source.newline(first), order=-0.5 + depth / 1000)
            for line in range(first, last + 1):
                text = source.line(line)
                if source.starts_in_string(line) or not text.strip() or line in self._removed_lines:
                    continue
                where = source.line_start(line) + (len(own) if text.startswith(own) else 0)
                indents.setdefault(line, []).append((where, unit))
        for pieces in indents.values():
            self._put(pieces[0][0], pieces[0][0], "".join(unit for _, unit in pieces), order=0.5)


_SIMPLE = (
    ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return, ast.Delete, ast.Pass, ast.Import, ast.ImportFrom,
    ast.Assert, ast.Raise, ast.Global, ast.Nonlocal, ast.Break, ast.Continue,
)


class _Transformed:
    """Applies the edits to a copy of the syntax tree."""

    def __init__(self, code, edits):
        self._code = code
        self._tree = ast.parse(code.source.text)
        pairs = list(zip(ast.walk(code.source.tree), ast.walk(self._tree)))
        self._twin = {id(original): twin for original, twin in pairs}
        self._apply_expressions(edits)
        self._apply_statements(edits)

    def dump(self):
        return ast.dump(self._tree)

    def _apply_expressions(self, edits):
        for group in _grouped(edits, Keyword):
            self._twin[id(group[0].node)].keywords += [ast.keyword(e.name, expression(e.source)) for e in group]
        for group in _grouped(edits, Item):
            twin = self._twin[id(group[0].node)]
            if isinstance(twin, ast.Call):
                twin.keywords += [ast.keyword(edit.name, expression(edit.source)) for edit in group]
            else:
                twin.keys += [ast.Constant(edit.name) for edit in group]
                twin.values += [expression(edit.source) for edit in group]
        for group in _grouped(edits, Merge):
            twin = self._twin[id(group[0].node)]
            keys = [None] + [ast.Constant(edit.name) for edit in group]
            twin.value = ast.Dict(keys, [twin.value] + [expression(edit.source) for edit in group])
        for edit in _of(edits, Replace):
            parent = self._twin[id(self._code.parent(edit.node))]
            self._exchange(parent, self._twin[id(edit.node)], expression(edit.source))

    @staticmethod
    def _exchange(parent, old, new):
        for field, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, field, new)
            elif isinstance(value, list):
                value[:] = [new if part is old else part for part in value]

    def _apply_statements(self, edits):
        blocks = {}
        for edit in [edit for kind in (Remove, Insert, Wrap) for edit in _of(edits, kind)]:
            block = self._code.block(edit.node)
            blocks.setdefault(id(block), (block, []))[1].append(edit)
        for block, own in blocks.values():
            twin_block = self._twin_block(block)
            twin_block[:] = self._new_block(block, own)

    def _twin_block(self, block):
        parent = self._twin[id(self._code.parent(block[0]))]
        first = self._twin[id(block[0])]
        for _, value in ast.iter_fields(parent):
            if isinstance(value, list) and any(part is first for part in value):
                return value
        raise AssertionError("a statement is in a block of its parent")

    def _new_block(self, block, edits):
        removed = {id(edit.node) for edit in _of(edits, Remove)}
        rows = []  # (index of the original statement, new statement)
        for index, statement in enumerate(block):
            own = [edit for edit in _inserts(edits) if edit.node is statement]
            for edit in own:
                if edit.before:
                    rows += [(index - 0.5, part) for part in statements(edit.source)]
            if id(statement) not in removed:
                rows.append((index, self._twin[id(statement)]))
            for edit in own:
                if not edit.before:
                    rows += [(index + 0.5, part) for part in statements(edit.source)]
        if not rows:
            rows.append((0, ast.Pass()))
        # Innermost wraps first: shorter ranges and, among equal ranges, the header that is inserted last.
        def by_size(wrap):
            return block.index(wrap.last) - block.index(wrap.node), [-ord(letter) for letter in wrap.header]

        for wrap in sorted(_of(edits, Wrap), key=by_size):
            first, last = block.index(wrap.node), block.index(wrap.last)
            inside = [row for index, row in rows if first <= index <= last]
            around = [position for position, (index, _) in enumerate(rows) if first <= index <= last]
            whole = statements(wrap.header + "\n    pass")[0]
            whole.body = inside
            if not inside or around != list(range(around[0], around[-1] + 1)):
                raise Refusal("conflict", f"Two changes overlap in {self._code.source.path}.")
            rows[around[0]: around[-1] + 1] = [(first, whole)]
        return [row for _, row in rows]


# Edits of a configuration file: they replace one value on a line and nothing else.


class ConfigurationSource:
    """The bytes and text of a file; the parts that are not edited are preserved byte by byte."""

    def __init__(self, path, data):
        self.path = path
        self.sha256 = hashlib.sha256(data).hexdigest()
        self._bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
        try:
            self.text = data[len(self._bom):].decode("utf-8")
        except ValueError as error:
            raise Refusal("cannot_parse", f"{path} is not a UTF-8 text: {error}.") from None

    def encode(self, text):
        return self._bom + text.encode("utf-8")


class ConfigurationCode:
    def __init__(self, source):
        self.source = source
        self.entries = entries(source.path, source.text)

    def entry_at(self, place):
        """The entry at a place given by the facts, or None."""
        return next((entry for entry in self.entries if (entry.line, entry.column) == (place["line"], place["column"])), None)


class SetValue:
    """A new value of one entry. It has the attributes of a syntax-tree node, which are needed to report places."""

    def __init__(self, entry, value):
        self.entry, self.value = entry, value
        self.key = (entry.line, entry.column)
        self.content = rewritten(entry.text, value)
        self.node = self
        self.lineno = self.end_lineno = entry.line
        self.col_offset, self.end_col_offset = entry.column, entry.end_column


class ConfigurationEdits(Edits):
    """The edits of one configuration file."""

    def render(self):
        """The new text, checked: it has the same entries, and only the edited ones have other values.

        @raises Refusal if this is not the case
        """
        source = self._code.source
        lines = lines_of(source.text)
        for _, edit in sorted(self._edits.items(), reverse=True):
            line, entry = lines[edit.lineno - 1], edit.entry
            lines[edit.lineno - 1] = line[: entry.column] + edit.content + line[entry.end_column:]
        text = "".join(lines)
        after = entries(source.path, text)
        is_same = len(after) == len(self._code.entries) and all(
            new.keys == old.keys and self._is_wanted(old, new) for old, new in zip(self._code.entries, after)
        )
        if not is_same:
            raise Refusal("not_spliced", f"{source.path} cannot be changed in place without further changes.")
        return text

    def _is_wanted(self, old, new):
        edit = self._edits.get((old.line, old.column))
        return new.text == old.text if edit is None else is_value(new.text, edit.value)
