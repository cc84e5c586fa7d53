"""Regular expressions of DuckDB (RE2) in the syntax of the JVM, so that they match the same text.

What differs and is used here: `$` and `.` know one line end in RE2, `\\s`, `\\b` and `\\w` are ASCII, brackets nest in Java's classes,
letter case is folded beyond ASCII, and a brace that opens no repetition must be escaped.
"""

from __future__ import annotations

import re

SPACE = r"\t\n\f\r "
BOUNDARY = r"(?:(?<=[0-9A-Za-z_])(?![0-9A-Za-z_])|(?<![0-9A-Za-z_])(?=[0-9A-Za-z_]))"
POSIX = {"alpha": "Alpha", "digit": "Digit", "alnum": "Alnum", "upper": "Upper", "lower": "Lower", "punct": "Punct", "space": "Space"}
_REPEAT = re.compile(r"\{\d+(?:,\d*)?\}")
_FLAGS = re.compile(r"\(\?([a-z]+)(?:-[a-z]+)?[:)]")


def pattern(re2: str) -> str:
    """The pattern that finds in Java what this one finds in RE2; ValueError for what has no twin."""
    if "m" in {flag for flags in _FLAGS.findall(re2) for flag in flags}:
        raise ValueError(f"the flag (?m) is not carried to Java: {re2}")
    return "(?d)" + "".join(_pieces(re2))


def whole(re2: str) -> str:
    """The pattern that finds in Java only a text that matches from its first to its last character."""
    return f"(?d)\\A(?:{pattern(re2).removeprefix('(?d)')})\\z"


def first(re2: str) -> str:
    """The pattern whose first group is what stands before the first match, the second that match: its replacement replaces no other."""
    return f"(?d)(?s:\\A(.*?))({pattern(re2).removeprefix('(?d)')})"


def replacement(re2: str, shift: int = 0) -> str:
    """The replacement text, with `\\1` as `$1` and its groups counted from `shift`."""

    def place(found: re.Match[str]) -> str:
        escaped = found[1]
        return "\\$" if found[0] == "$" else f"${{{int(escaped) + shift}}}" if escaped.isdigit() else found[0]

    said = re.sub(r"\\(.)|\$", lambda found: place(found) if found[0] == "$" or found[1] else found[0], re2, flags=re.DOTALL)
    return re.sub(r"\$\{(\d+)\}(?=(\d)?)", lambda found: f"${found[1]}" + ("\\" if found[2] else ""), said)


def text(said: str) -> str:
    """A pattern that matches this text as it is."""
    return re.sub(r"([\\^$.|?*+()\[\]{}])", r"\\\1", said)


def _pieces(re2: str) -> list[str]:
    out: list[str] = []
    place = 0
    while place < len(re2):
        char = re2[place]
        if char == "\\":
            out.append(_escape(re2[place + 1 : place + 2]))
            place += 2
        elif char == "[":
            end = _end_of_class(re2, place)
            out.append(_class(re2[place + 1 : end]))
            place = end + 1
        elif flags := _FLAGS.match(re2, place):
            out.append(flags[0].replace("i", "iu", 1))
            place = flags.end()
        elif char == "$":
            out.append(r"\z")
            place += 1
        elif char == "{" and not _REPEAT.match(re2, place):
            out.append(r"\{")
            place += 1
        else:
            out.append(char)
            place += 1
    return out


def _escape(char: str) -> str:
    found = {"b": BOUNDARY, "s": f"[{SPACE}]", "S": f"[^{SPACE}]"}.get(char, f"\\{char}")
    if char in {"B", "Q", "E", "C", ""}:
        raise ValueError(f"the escape \\{char} is not carried to Java")
    return found


def _end_of_class(re2: str, start: int) -> int:
    place = start + 1
    place += re2.startswith("^", place)
    place += re2.startswith("]", place)
    while re2[place] != "]":
        if re2.startswith("[:", place) and ":]" in re2[place:]:
            place = re2.index(":]", place) + 2
        else:
            place += 2 if re2[place] == "\\" else 1
    return place


def _class(body: str) -> str:
    """A class by its inside: brackets and `&` are plain characters in RE2, and names in `[:…:]` are properties."""
    negated = body.startswith("^")
    out: list[str] = []
    place = int(negated)
    while place < len(body):
        if named := re.compile(r"\[:([a-z]+):\]").match(body, place):
            out.append(rf"\p{{{POSIX[named[1]]}}}")
            place = named.end()
        elif body[place] == "\\":
            escaped = body[place + 1]
            if escaped == "S":
                raise ValueError(f"\\S inside a class is not carried to Java: [{body}]")
            out.append(SPACE if escaped == "s" else f"\\{escaped}")
            place += 2
        else:
            out.append(f"\\{body[place]}" if body[place] in "[]&^" else body[place])
            place += 1
    return f"[{'^' if negated else ''}{''.join(out)}]"
