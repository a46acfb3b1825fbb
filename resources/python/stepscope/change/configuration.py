"""Edits of a configuration file: they replace one value on a line and nothing else."""
import codecs
import hashlib

from .config_values import entries, is_value, lines_of, rewritten
from .edits import Edits
from .refusal import Refusal


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
