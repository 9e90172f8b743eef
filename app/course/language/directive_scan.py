"""Finds every fence of a chapter before Markdown is parsed, so that unclosed and crossed fences are reported.

Markdown closes an unclosed fence silently at the end of the file and so swallows the rest. This scan pairs
the fences first; the Markdown rule in `markdown` then takes their extents from here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from app.course.language.directive_specs import SPECS, all_option_names
from app.course.problems import Report, Rule

DIRECTIVE = re.compile(r"(?P<mark>:{3,}|`{3,}|~{3,})\{(?P<name>[^}]*)\}[ \t]*(?P<argument>.*?)[ \t]*$")
BARE_COLONS = re.compile(r"(?P<mark>:{3,})[ \t]*(?P<rest>.*?)[ \t]*$")
BADLY_PLACED = re.compile(r"[ \t>*+-]*(?:\d+[.)][ \t]+)?[ \t>]*(?P<mark>:{3,}|`{3,})\{(?P<name>[^}]*)\}")
CODE_OPEN = re.compile(r"[ ]*(?:[-*+>]|\d+[.)])?[ >]*(?P<mark>`{3,}|~{3,})(?P<info>[^`]*)$")
CODE_CLOSE = re.compile(r"[ >]*(?P<mark>`{3,}|~{3,})[ \t]*$")
OPTION = re.compile(r":(?P<name>[A-Za-z][\w-]*):(?:[ \t]+(?P<value>.*?))?[ \t]*$")
OPTION_LIKE = re.compile(r":[A-Za-z][\w -]*(?:=|:|$)")


@dataclass(frozen=True)
class OptionLine:
    """One `:name: value` line under a directive's opening line."""

    name: str
    value: str
    line: int


@dataclass(frozen=True)
class Fence:
    """A directive's extent. Lines count from 0, as in Markdown's tokens; `end` is the first line after the fence."""

    name: str
    argument: str
    mark: str
    open: int
    body: int
    close: int
    end: int
    options: tuple[OptionLine, ...]
    badly_written: tuple[int, ...]
    """Lines that look like options but are not."""
    astray: tuple[OptionLine, ...] = ()
    """Options that are indented or follow a blank line; `options` contains them too."""

    @property
    def is_code(self) -> bool:
        return self.mark[0] != ":"

    @property
    def line(self) -> int:
        return self.open + 1

    def line_of(self, *names: str) -> int:
        """The line, from 1, of the first of these options that is present; otherwise the line of the fence."""
        return next((option.line for option in self.options if option.name in names), self.line)


@dataclass
class _Open:
    """A fence whose end has not been reached."""

    mark: str
    line: int
    name: str = ""
    argument: str = ""

    @property
    def is_code(self) -> bool:
        return self.mark[0] != ":"


class _Scan:
    """One pass over the lines. `forced` maps an unclosed fence's opening line to the line before which it ends."""

    def __init__(self, lines: list[str], forced: Mapping[int, int], path: str) -> None:
        self.lines = lines
        self.forced = forced
        self.stack: list[_Open] = []
        self.fences: dict[int, Fence] = {}
        self.unclosed: dict[int, int] = {}
        self.report = Report(path)

    def run(self) -> None:
        for number, line in enumerate(self.lines):
            while self.stack and self.forced.get(self.stack[-1].line) == number:
                self._end(self.stack.pop(), number, number)
            if self.stack and self.stack[-1].is_code:
                self._inside_code(number, line)
            else:
                self._outside_code(number, line)
        for left in self.stack:
            self.unclosed.setdefault(left.line, self._guess_end(left))
        while self.stack:
            self._end(self.stack.pop(), len(self.lines), len(self.lines))

    def _inside_code(self, number: int, line: str) -> None:
        top = self.stack[-1]
        close = CODE_CLOSE.match(line)
        if close and close["mark"][0] == top.mark[0] and len(close["mark"]) >= len(top.mark):
            self._end(self.stack.pop(), number, number + 1)
        elif _interrupts(top, line, bool(self.stack[:-1])):
            self.unclosed.setdefault(top.line, number)

    def _outside_code(self, number: int, line: str) -> None:
        directive = DIRECTIVE.match(line)
        if directive:
            self._open_directive(number, directive)
        elif line.startswith(":::"):
            self._colons(number, line)
        elif code := CODE_OPEN.match(line):
            self._note_badly_placed(number, line)
            self.stack.append(_Open(code["mark"], number))
        else:
            self._note_badly_placed(number, line)

    def _open_directive(self, number: int, found: re.Match[str]) -> None:
        opened = _Open(found["mark"], number, found["name"].strip(), found["argument"])
        outer = self.stack[-1] if self.stack else None
        if outer and not opened.is_code and len(opened.mark) >= len(outer.mark):
            inner = f"{opened.mark}{{{opened.name}}}"
            message = f"{inner} is inside {outer.mark}{{{outer.name}}} and has the same number of colons"
            close = f"close {{{outer.name}}} (line {outer.line + 1}) before it"
            remedy = f"{close}, or give {{{outer.name}}} {len(opened.mark) + 1} colons"
            self.report.add(number + 1, Rule.NESTING, opened.mark, message, remedy)
        self.stack.append(opened)

    def _colons(self, number: int, line: str) -> None:
        bare = BARE_COLONS.match(line)
        if bare is not None and not bare["rest"]:
            self._close_colons(number, bare["mark"])
            return
        text = line.strip()
        mark = text[: len(text) - len(text.lstrip(":"))]
        name, _, argument = text.lstrip(":").strip().partition(" ")
        name = name.strip("{}")
        message, remedy = f"{text!r} does not open a directive: its name needs braces", f"write {mark}{{{name}}}"
        self.report.add(number + 1, Rule.STRAY_FENCE, text, message, remedy)
        # Treat it as the directive it was meant to be, so that its closing line is not reported as well.
        self.stack.append(_Open(mark, number, name, argument))

    def _close_colons(self, number: int, mark: str) -> None:
        for depth in range(len(self.stack) - 1, -1, -1):
            if len(self.stack[depth].mark) == len(mark) or (depth == 0 and len(mark) > len(self.stack[0].mark)):
                for left in self.stack[depth + 1 :]:
                    self.unclosed.setdefault(left.line, number)
                    self._end(left, number, number)
                self._end(self.stack[depth], number, number + 1)
                del self.stack[depth:]
                return
        remedy = "remove it, or open a directive with the same number of colons before it"
        self.report.add(number + 1, Rule.STRAY_FENCE, mark, f"{mark} closes nothing", remedy)

    def _note_badly_placed(self, number: int, line: str) -> None:
        found = BADLY_PLACED.match(line)
        if found and found.start("mark") > 0:
            message = f"{{{found['name']}}} is indented, or is inside a list or quotation"
            remedy = "start the directive in the first column"
            self.report.add(number + 1, Rule.MISPLACED, found["name"], message, remedy)

    def _end(self, opened: _Open, close: int, end: int) -> None:
        if opened.name or DIRECTIVE.match(self.lines[opened.line]):
            self.fences[opened.line] = _with_options(opened, self.lines, close, end)

    def _guess_end(self, left: _Open) -> int:
        """A guess at the intended end of an unclosed fence: before the next heading or fence of its kind."""
        for number in range(left.line + 1, len(self.lines)):
            line = self.lines[number]
            opening = DIRECTIVE.match(line)
            if line.startswith("#") and not left.is_code:
                return number
            if opening and len(opening["mark"]) >= len(left.mark) and not left.is_code:
                return number
        return len(self.lines)


def _interrupts(top: _Open, line: str, nested: bool) -> bool:
    """Whether a line inside a code fence shows that the fence was left open."""
    opening = DIRECTIVE.match(line) or CODE_OPEN.match(line)
    if opening and opening["mark"][0] == ":":
        return bool(top.name)
    if opening and not CODE_CLOSE.match(line):
        return opening["mark"][0] == top.mark[0] and len(opening["mark"]) >= len(top.mark)
    return nested and bool(top.name) and re.fullmatch(r":{3,}\s*", line) is not None


def _with_options(opened: _Open, lines: list[str], close: int, end: int) -> Fence:
    options: list[OptionLine] = []
    badly: list[int] = []
    astray: list[OptionLine] = []
    known = all_option_names(opened.name) if opened.name in SPECS else frozenset()
    number = opened.line + 1
    while number < close:
        line = lines[number]
        if found := OPTION.match(line):
            options.append(OptionLine(found["name"], found["value"] or "", number + 1))
        elif OPTION_LIKE.match(line):
            badly.append(number + 1)
        elif strayed := _find_astray(lines, number, close, known):
            options.append(strayed)
            astray.append(strayed)
            number = strayed.line - 1
        else:
            break
        number += 1
    given = (tuple(options), tuple(badly), tuple(astray))
    return Fence(opened.name, opened.argument, opened.mark, opened.line, number, close, end, *given)


def _find_astray(lines: list[str], number: int, close: int, known: frozenset[str]) -> OptionLine | None:
    """An option of this directive that is indented or follows blank lines: almost certainly not body text."""
    while number < close and not lines[number].strip():
        number += 1
    found = OPTION.match(lines[number].lstrip()) if number < close else None
    if found is None or found["name"] not in known:
        return None
    return OptionLine(found["name"], found["value"] or "", number + 1)


def find_fences(lines: list[str], report: Report) -> dict[int, Fence]:
    """Every directive's extent by its opening line (from 0). Reports unclosed, crossed and stray fences."""
    forced: dict[int, int] = {}
    while True:
        scan = _Scan(lines, forced, report.path)
        scan.run()
        fresh = {line: end for line, end in scan.unclosed.items() if line not in forced}
        if not fresh:
            break
        # Resolve one fence per pass, the last first: an earlier one may only look unclosed because the last
        # one swallowed its closing line.
        last = max(fresh)
        forced[last] = fresh[last]
    _report(lines, forced, scan, report)
    return scan.fences


def _report(lines: list[str], forced: Mapping[int, int], scan: _Scan, report: Report) -> None:
    for line in sorted(forced):
        text = lines[line].strip()
        mark = re.match(r"[:`~]+", text.lstrip("->*+ 0123456789.)"))
        shown = mark[0] if mark else text
        report.add(line + 1, Rule.UNCLOSED, text, f"{text} is never closed", f"add the line {shown} where it ends")
    report.problems += scan.report.problems
