#!/usr/bin/env python3
"""Sorts the sources of a library into groups that are each compiled as one file, and writes these files.

source_groups.py ROOTS OUT HEADER FILE…: prints the files that are in a group and then the files written, OUT_0.cpp
and so on, as a CMake list.
ROOTS: folders where the project's headers lie, separated by commas. HEADER: what each file has to include first, or nothing.

What a file keeps to itself (names in unnamed namespaces, static functions) has another name while the file is included, if others of
its group have that word. A file where this cannot be done, with macros or conditions of its own, or that would be changed by using
directives of those before it, is in another group or alone. So each file means what it means alone, or fails to compile.
"""
import os
import re
import sys

NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
RAW_STRING = re.compile(r'R"(\w*)\(.*?\)\1"', re.S)
WORD = re.compile(r"[A-Za-z_]\w*")
DIRECTIVE = re.compile(r"^\s*#(?:[^\n\\]|\\.)*(?:\\\n[^\n]*)*", re.M)
KEYWORDS = {"bool", "char", "class", "const", "constexpr", "double", "enum", "float", "int", "long", "operator", "short", "sizeof",
            "static_assert", "static_cast", "struct", "unsigned", "using", "void"}
MOST_LINES = 4000


def without_template_arguments(head):
    """A declaration without what is between < and >."""
    while True:
        shorter = re.sub(r"(?<!operator)<[^<>]*>", "", head)
        if shorter == head:
            return head
        head = shorter


def without_nested(head):
    """A declaration without what is in its parentheses, so that commas part the names."""
    while True:
        shorter = re.sub(r"\([^()]+\)", "()", head)
        if shorter == head:
            return head
        head = shorter


def end_of_block(text, at):
    """The place behind the brace that closes the one at `at`."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(text, at):
        depth += 1 if match.group() == "{" else -1
        if depth == 0:
            return match.end()
    return len(text)


def declared(head):
    """The names that a declaration introduces."""
    head = re.sub(r"\[\[[^\]]*\]\]", " ", head)
    head = re.sub(r"^\s*template\b", "", without_template_arguments(head))
    kind = re.match(r"\s*(?:struct|class|union|enum(?:\s+class|\s+struct)?)\s+(\w+)\s*(?:final\s*)?(?::[^:]|$)", head)
    if kind:
        return {kind[1]}
    names = set()
    for part in without_nested(head).split(","):
        before = re.split(r"[(=\[;]", part.strip(), maxsplit=1)[0]
        name = re.search(r"(::\s*)?([A-Za-z_]\w*)\s*$", before)
        if name and not name[1] and name[2] not in KEYWORDS and not name[2].isupper():
            names.add(name[2])
    return names


def declarations(text):
    """What a file declares: names for itself alone, names for others, and using directives as their text."""
    own, shared, directives = set(), set(), set()
    scopes = []  # of each open namespace, whether it is unnamed
    at = 0
    stop = re.compile(r"[;{}]")
    while at < len(text):
        start, depth = at, 0
        for match in re.compile(r"[;{}()]").finditer(text, at):
            depth += {"(": 1, ")": -1}.get(match.group(), 0)
            if depth <= 0 and stop.match(match.group()):
                break
        else:
            break
        head, at = text[start:match.start()].strip(), match.end()
        if match.group() == "}":
            if scopes:
                scopes.pop()
            continue
        space = re.match(r"(?:inline\s+)?namespace\b\s*([\w:]*)\s*$", head)
        if match.group() == "{" and space:
            scopes.append(space[1] == "")
            continue
        if match.group() == "{" and re.match(r'extern\s*""\s*$', head):
            scopes.append(False)
            continue
        if head.startswith("using namespace") and "literals" not in head:
            directives.add(head)
        alone = any(scopes) or head.startswith("static ") or " static " in head.split("(")[0]
        names = own if alone else shared
        if head and not re.match(r"using\s+(?!\w+\s*=)|namespace\b", head):
            names |= declared(head)
        if match.group() == "{":
            end = end_of_block(text, match.start())
            if re.match(r"enum\b(?!\s+(?:class|struct))", head):
                names.update(set(WORD.findall(text[match.end():end])) - KEYWORDS)
            at = end
    return own, shared, directives


class Source:
    def __init__(self, path):
        self.path = path
        with open(path, encoding="utf-8") as file:
            raw = file.read()
        text = NOISE.sub(lambda noise: " " if noise[0].startswith("/") else '""', raw)
        code = RAW_STRING.sub('""', raw)
        self.includes = re.findall(r"^[ \t]*#[ \t]*include[ \t]+([<\"][^>\"\n]+)[>\"]", code, re.M)
        self.conditional = bool(re.search(r"^\s*#\s*(?:define|undef|if)", text, re.M))
        self.lines = raw.count("\n")
        self.text = DIRECTIVE.sub("", text)
        self.words = set(WORD.findall(self.text))
        # Names that are accessed as members or qualified names cannot be renamed, nor fixtures, which are part of a test's name.
        self.foreign = set(re.findall(r"(?:(?:\.|->|::)\s*|\b(?:TEST_F|TEST_P|INSTANTIATE_\w+)\s*\([^()]*\b)([A-Za-z_]\w*)", self.text))
        self.own, self.shared, self.directives = declarations(self.text)


class Sources:
    def __init__(self, roots):
        self.roots = roots
        self.known = {}

    def read(self, path):
        if path not in self.known:
            self.known[path] = Source(path)
        return self.known[path]

    def header(self, include, user):
        """The project's header of an include line, or None."""
        for folder in (*self.roots, os.path.dirname(user)):
            path = os.path.normpath(os.path.join(folder, include[1:]))
            if include[0] == '"' and os.path.isfile(path):
                return path
        return None

    def headers(self, path):
        """The project's headers that a file includes, directly or indirectly."""
        seen, ahead = set(), [path]
        while ahead:
            user = ahead.pop()
            found = {self.header(include, user) for include in self.read(user).includes} - {None} - seen
            seen |= found
            ahead += found
        return seen


class Member:
    """A file to be added to a group."""

    def __init__(self, sources, path):
        self.source = sources.read(path)
        headers = [sources.read(header) for header in sources.headers(path)]
        self.words = self.source.words.union(self.source.own, *(header.words for header in headers))
        declared_elsewhere = set().union(*(header.shared | header.own for header in headers))
        self.fixed = self.source.own & (self.source.foreign | declared_elsewhere | self.source.shared)
        self.directives = self.source.directives


def grouped(members):
    # Files whose fixed names occur in many other files come last, where they block fewer groups.
    def in_the_way(member):
        return sum(1 for other in members if other is not member and member.fixed & other.words)

    groups = []
    for member in sorted(members, key=lambda member: (len(member.directives), in_the_way(member), member.source.path)):
        if member.source.conditional:
            continue
        for group in groups:
            if (sum(other.source.lines for other in group) + member.source.lines <= MOST_LINES
                    and not any(other.fixed & member.words or not other.directives <= member.directives for other in group)):
                group.append(member)
                break
        else:
            groups.append([member])
    return [group for group in groups if len(group) > 1]


def one_file(sources, header, group):
    lines = [f'#include "{header}"'] if header else []
    # Renamed names can shadow names of other files, and unnamed namespaces are in included files.
    ignored = [f'#pragma GCC diagnostic ignored "-W{name}"' for name in ("shadow", "subobject-linkage")]
    for member in group:
        for include in member.source.includes:
            ours = sources.header(include, member.source.path)
            lines.append(f'#include "{ours}"' if ours else f"#include {include}" + (">" if include[0] == "<" else '"'))
    lines = list(dict.fromkeys(lines)) + ignored
    for at, member in enumerate(group):
        others = set().union(*(other.words for other in group if other is not member))
        renamed = sorted(member.source.own & others - member.fixed)
        stem = os.path.splitext(os.path.basename(member.source.path))[0]
        lines += [f"#define {name} {name}_{stem}{at}" for name in renamed]
        lines.append(f'#include "{member.source.path}"')
        lines += [f"#undef {name}" for name in renamed]
    return "\n".join(lines) + "\n"


def main():
    sources = Sources(sys.argv[1].split(","))
    out, header, files = sys.argv[2], sys.argv[3], sys.argv[4:]
    groups = grouped([Member(sources, path) for path in files])
    together = [member.source.path for group in groups for member in group]
    written = []
    os.makedirs(os.path.dirname(out), exist_ok=True)
    for number, group in enumerate(groups):
        written.append(f"{out}_{number}.cpp")
        text = one_file(sources, header, group)
        if not os.path.isfile(written[-1]) or open(written[-1], encoding="utf-8").read() != text:
            with open(written[-1], "w", encoding="utf-8") as file:
                file.write(text)
    print(";".join(together + written))


main()
