"""A user's file: its bytes, text and syntax tree, and the conversion between their positions.

The text keeps its line ends, so that the parts that are not edited are preserved byte by byte. Positions in syntax
trees are lines and UTF-8 columns, as Python counts them; positions in the text are offsets in characters.
"""
import ast
import bisect
import codecs
import hashlib
import io
import re
import sys
import tokenize

from .edits import Refusal

# Python's own line ends; str.splitlines() would also split at form feeds and Unicode separators.
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$")
_INSIGNIFICANT = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT, tokenize.ENDMARKER)
# Strings that consist of several tokens: f-strings since Python 3.12, t-strings since 3.14.
_STRING_STARTS = {getattr(tokenize, name) for name in ("FSTRING_START", "TSTRING_START") if hasattr(tokenize, name)}
_STRING_ENDS = {getattr(tokenize, name) for name in ("FSTRING_END", "TSTRING_END") if hasattr(tokenize, name)}


class Token:
    __slots__ = ("start", "end", "text", "is_comment")

    def __init__(self, start, end, text, is_comment):
        self.start, self.end, self.text, self.is_comment = start, end, text, is_comment


class Source:
    def __init__(self, path, data):
        self.path = path
        self.sha256 = hashlib.sha256(data).hexdigest()
        self._bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
        try:
            self.encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
            if self._bom:
                self.encoding = "utf-8"
            self.text = data[len(self._bom):].decode(self.encoding)
            self.tree = ast.parse(self.text)
        except (SyntaxError, ValueError, LookupError, RecursionError, MemoryError) as error:
            version = ".".join(str(part) for part in sys.version_info[:2])
            raise Refusal("cannot_parse", f"{path} cannot be read as Python {version}: {error}.") from None
        self._lines = _LINE.findall(self.text)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))
        self.tokens, self._lines_in_strings = self._tokenize()
        self._token_starts = [token.start for token in self.tokens]

    def encode(self, text):
        """The encoded bytes of a new text of this file."""
        return self._bom + text.encode(self.encoding)

    # Positions

    def line(self, number):
        """The line with its line end; empty after the last line."""
        return self._lines[number - 1] if number <= len(self._lines) else ""

    def line_start(self, number):
        return self._starts[min(number, len(self._starts)) - 1]

    def line_content_end(self, number):
        """Offset of the end of the line, excluding the line end."""
        return self.line_start(number) + len(self.line(number).rstrip("\r\n"))

    def newline(self, number):
        """The line's own line end, or that of the file's first line."""
        line = self.line(number)
        end = line[len(line.rstrip("\r\n")):]
        if end:
            return end
        first = self.line(1)
        return first[len(first.rstrip("\r\n")):] or "\n"

    def offset(self, line, column):
        """Offset of a position in the syntax tree."""
        text = self.line(line)
        if text.isascii():
            return self.line_start(line) + column
        return self.line_start(line) + len(text.encode("utf-8")[:column].decode("utf-8", "replace"))

    def span(self, node):
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def segment(self, node):
        start, end = self.span(node)
        return self.text[start:end]

    def indent(self, number):
        """White space at the start of a line."""
        line = self.line(number)
        return line[: len(line) - len(line.lstrip(" \t\f"))]

    def starts_in_string(self, number):
        """Whether the line starts inside a string, so that its white space is part of the string."""
        return number in self._lines_in_strings

    # Tokens

    def token_before(self, offset):
        """The last token before or at the offset that is not a comment."""
        index = bisect.bisect_left(self._token_starts, offset) - 1
        while index >= 0 and (self.tokens[index].is_comment or self.tokens[index].end > offset):
            index -= 1
        return self.tokens[index] if index >= 0 else None

    def token_from(self, offset):
        """The first token at or after the offset that is not a comment."""
        index = bisect.bisect_left(self._token_starts, offset)
        while index < len(self.tokens) and self.tokens[index].is_comment:
            index += 1
        return self.tokens[index] if index < len(self.tokens) else None

    def line_of(self, offset):
        return bisect.bisect_right(self._starts, offset, 0, max(len(self._lines), 1))

    def _tokenize(self):
        text = "".join(line.rstrip("\r\n") + "\n" for line in self._lines)
        tokens, in_strings, depth, opened = [], set(), 0, 0
        try:
            for kind, string, (line, column), (end_line, end_column), _ in tokenize.generate_tokens(
                io.StringIO(text).readline
            ):
                if kind in _STRING_STARTS:
                    opened = line if depth == 0 else opened
                    depth += 1
                elif kind in _STRING_ENDS:
                    depth -= 1
                    if depth == 0:
                        in_strings.update(range(opened + 1, end_line + 1))
                elif kind == tokenize.STRING:
                    in_strings.update(range(line + 1, end_line + 1))
                if kind not in _INSIGNIFICANT or kind == tokenize.COMMENT:
                    start, end = self._starts[line - 1] + column, self._starts[end_line - 1] + end_column
                    tokens.append(Token(start, end, string, kind == tokenize.COMMENT))
        except (tokenize.TokenError, IndentationError, IndexError) as error:
            raise Refusal("cannot_parse", f"{self.path} cannot be split into tokens: {error}.") from None
        return tokens, in_strings
