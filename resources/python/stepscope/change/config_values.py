"""Finds where the values of a configuration file are written: YAML, JSON, TOML and INI.

Only values on a single line are found, because only these can be replaced in place; nothing is guessed about others. No
parser of the program is needed, and the standard library has none for YAML.
"""
import os
import re

ENDINGS = (".yaml", ".yml", ".json", ".toml", ".ini", ".cfg", ".conf")
LARGEST = 256 * 1024  # maximum bytes of a configuration file; larger files are data

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$")
_YAML = re.compile(
    r"""(?P<indent>[ ]*)(?P<dashes>(?:-[ ]+)*)(?P<quote>["']?)(?P<key>[\w.\-/]+)(?P=quote)[ \t]*:(?:[ \t]+(?P<rest>.*))?$"""
)
_INI = re.compile(r"""[ \t]*(?P<quote>["']?)(?P<key>[\w.\- /]+?)(?P=quote)[ \t]*[=:][ \t]*(?P<rest>.*)$""")
_SECTION = re.compile(r"[ \t]*\[+[ \t]*(?P<name>[^\[\]]+?)[ \t]*\]+")
_SCALAR = re.compile(r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'{}\[\]&*!|>%@`#,;][^#;\r\n]*?)(?=[ \t]*(?:[ \t][#;].*)?$)""")
_JSON = re.compile(r'"(?:[^"\\\n]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_TRUE, _FALSE = ("true", "yes", "on"), ("false", "no", "off")


class Entry:
    """One value: its keys from the outermost, its text, its line (from 1), and its first and last column in
    characters."""

    __slots__ = ("keys", "text", "line", "column", "end_column")

    def __init__(self, keys, text, line, column):
        self.keys, self.text, self.line, self.column = tuple(keys), text, line, column
        self.end_column = column + len(text)


def lines_of(text):
    """The lines with their line ends, as editors count them."""
    return _LINE.findall(text)


def is_configuration(path):
    return path.lower().endswith(ENDINGS)


def entries(path, text):
    """The values of a file, in order; the file name determines the format."""
    ending = os.path.splitext(path)[1].lower()
    lines = lines_of(text)
    if ending == ".json":
        return _json(text)
    if ending in (".yaml", ".yml"):
        return _yaml(lines)
    return _sections(lines)


def _scalar(rest, keys, line, column):
    found = _SCALAR.match(rest)
    return [Entry(keys, found.group(), line, column)] if found else []


def _yaml(lines):
    found, around, block = [], [], None  # around: (indent, key) of the mappings that contain a line
    for number, line in enumerate(lines, 1):
        line = line.rstrip("\r\n")
        body = line.strip()
        indent = len(line) - len(line.lstrip(" "))
        if block is not None and (not body or indent > block):
            continue  # in the text of a block scalar
        block = None
        match = _YAML.match(line)
        if not match:
            continue
        indent = len(match["indent"]) + len(match["dashes"])
        while around and around[-1][0] >= indent:
            around.pop()
        keys = [key for _, key in around] + [match["key"]]
        rest = match["rest"] or ""
        if rest[:1] in ("|", ">"):
            block = len(match["indent"])
        elif rest:
            found += _scalar(rest, keys, number, match.start("rest"))
        around.append((indent, match["key"]))
    return found


def _sections(lines):
    found, section = [], []
    for number, line in enumerate(lines, 1):
        line = line.rstrip("\r\n")
        if not line.strip() or line.lstrip()[0] in "#;":
            continue
        heading = _SECTION.match(line)
        if heading:
            section = heading["name"].split(".")
            continue
        match = _INI.match(line)
        if match:
            found += _scalar(match["rest"], [*section, *match["key"].strip().split(".")], number, match.start("rest"))
    return found


def _json(text):
    found, stack, key = [], [], None  # stack: the key of each open object; None of a list
    tokens = list(_JSON.finditer(text))
    starts = [0]
    for line in lines_of(text):
        starts.append(starts[-1] + len(line))
    number = 1
    for index, token in enumerate(tokens):
        word = token.group()
        follows = tokens[index + 1].group() if index + 1 < len(tokens) else ""
        if word in "{[":
            stack.append(key)
            key = None
        elif word in "}]":
            if stack:
                stack.pop()
            key = None
        elif word == ",":
            key = None
        elif word[0] == '"' and follows == ":":
            key = word[1:-1]
        elif word != ":" and key is not None:
            while starts[number] <= token.start() and number + 1 < len(starts):
                number += 1
            keys = [name for name in stack if name is not None] + [key]
            found.append(Entry(keys, word, number, token.start() - starts[number - 1]))
    return found


def is_value(text, value):
    """Whether this text is a literal of the value."""
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    if isinstance(value, str):
        return (text[1:-1] if quoted else text) == value
    if quoted:
        return False
    lower = text.lower()
    if value is None:
        return lower in ("null", "~", "none")
    if isinstance(value, bool):
        return lower in (_TRUE if value else _FALSE)
    try:
        return float(text.replace("_", "")) == float(value)
    except (TypeError, ValueError):
        return False


def rewritten(text, value):
    """The text of a new value that replaces `text`: quotes and the spelling of flags are kept."""
    if isinstance(value, str):
        quote = text[0] if text[:1] in ("\"", "'") else ""
        return quote + value + quote
    if not isinstance(value, bool):
        return str(value)
    for words in zip(_TRUE, _FALSE):
        if text.lower() in words:
            word = words[0] if value else words[1]
            return word.upper() if text.isupper() else word.capitalize() if text[:1].isupper() else word
    return "true" if value else "false"


def find(files, names, value):
    """(path, entry) of the value of an expression like `config["data"].batch_size`; None if no file contains it, or if
    several places match.

    @param files  (path, text) of the configuration files
    @param names  of the expression; the last one is the key of the value
    """
    best, most = [], 0
    for path, text in files:
        for entry in entries(path, text):
            if entry.keys[-1] != names[-1] or not is_value(entry.text, value):
                continue
            agreeing = _common_suffix_length(entry.keys, names)
            if agreeing > most:
                best, most = [], agreeing
            if agreeing == most:
                best.append((path, entry))
    return best[0] if len(best) == 1 else None


def _common_suffix_length(keys, names):
    count = 0
    for ours, theirs in zip(reversed(keys), reversed(names)):
        if ours != theirs:
            break
        count += 1
    return count
