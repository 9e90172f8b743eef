"""Typesets TeX with KaTeX inside Python: the browser needs no math script, and the CSP can forbid style attributes.

KaTeX writes measures as `style="..."`. Each distinct style becomes a class here, and `Typesetter.stylesheet` holds
the rules of all classes assigned so far.
"""

import re
import threading
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import dukpy

from app.course.problems import suggest

TAG_WITH_STYLE = re.compile(r'<(?P<name>[a-z]+)(?P<attributes>[^<>]*?) style="(?P<style>[^"]*)"(?P<rest>[^<>]*)>')
DISPLAYED = '<span class="katex-display">'
# On a narrow screen a wide formula scrolls, and the keyboard must be able to scroll it.
REACHABLE = '<span class="katex-display" tabindex="0">'
CLASS = re.compile(r'(?<= class=")[^"]*')

RENDER = """dukpy['formulas'].map(function (formula) {
  try {
    return {html: katex.renderToString(formula[0], {
      displayMode: formula[1], output: 'htmlAndMathml', throwOnError: true, strict: 'error',
      trust: function (asked) { throw new katex.ParseError(asked.command + ' is not allowed in chapters'); }})};
  } catch (error) {
    return {message: error.rawMessage || error.message, position: error.position === undefined ? -1 : error.position};
  }
})"""
"""Renders all formulas in one call: each call into the interpreter costs half as much as a formula."""

COMMON_NAMES = (
    "alpha approx bar begin beta bmod boldsymbol cdot cdots circ colon cos delta dfrac dots ell end epsilon equiv "
    "eta exp frac gamma geq hat in infty int lambda langle ldots left leftarrow leq lfloor lim log mapsto mathbb "
    "mathbf mathcal mathrm max min mu nabla neq odot omega operatorname overline partial phi pi prod propto quad "
    "rangle rho right rightarrow sigma sim sin sqrt sum tanh tau text theta tilde times to top underbrace "
    "varepsilon vdots vec "
)
"""Commands to suggest for a misspelt one."""


@dataclass(frozen=True)
class MathMistake:
    """Why a formula does not parse; `position` counts its characters from 0, or is -1 at its end."""

    message: str
    position: int
    remedy: str


class Typesetter:
    """KaTeX in its own JavaScript interpreter, created at the first formula; results are cached by formula."""

    def __init__(self, katex_source: str) -> None:
        self._source = katex_source
        self._engine: dukpy.JSInterpreter | None = None
        self._lock = threading.Lock()
        self._done: dict[tuple[str, bool], str | MathMistake] = {}
        self._rules: dict[str, str] = {}

    def typeset(self, tex: str, display: bool) -> str | MathMistake:
        """HTML together with MathML, without style attributes; or what is wrong with the formula."""
        self.prepare([(tex, display)])
        return self._done[tex, display]

    def prepare(self, formulas: Iterable[tuple[str, bool]]) -> None:
        """Typesets the new ones among `formulas`, pairs of TeX and whether it is displayed."""
        with self._lock:
            fresh = [formula for formula in dict.fromkeys(formulas) if formula not in self._done]
            if fresh:
                self._done.update(zip(fresh, self._render(fresh), strict=True))

    def stylesheet(self) -> str:
        """The CSS rules for every class that a typeset formula uses, in a stable order."""
        # The rule must override KaTeX's own longer selectors, as the style attribute did.
        with self._lock:
            rules = sorted(self._rules.items())
        return "".join(f".katex .{name}{{{_important(style)}}}\n" for name, style in rules)

    def _render(self, formulas: Sequence[tuple[str, bool]]) -> Iterator[str | MathMistake]:
        if self._engine is None:
            self._engine = dukpy.JSInterpreter()
            self._engine.evaljs(self._source + ";0")
        for answer in self._engine.evaljs(RENDER, formulas=formulas):
            if "html" in answer:
                html = TAG_WITH_STYLE.sub(self._style_as_class, answer["html"])
                yield html.replace(DISPLAYED, REACHABLE, 1) if html.startswith(DISPLAYED) else html
            else:
                yield _word_mistake(str(answer["message"]), int(answer["position"]))

    def _style_as_class(self, found: re.Match[str]) -> str:
        style = found["style"].strip(";")
        name = f"kx-{zlib.crc32(style.encode()):08x}"
        self._rules[name] = style
        attributes = found["attributes"] + found["rest"]
        if ' class="' in attributes:
            attributes = CLASS.sub(lambda classes: f"{classes[0]} {name}".strip(), attributes, count=1)
        else:
            attributes = f'{attributes} class="{name}"'
        return f"<{found['name']}{attributes}>"


def _important(style: str) -> str:
    return ";".join(f"{declaration.strip()}!important" for declaration in style.split(";") if declaration.strip())


def _word_mistake(message: str, position: int) -> MathMistake:
    command = re.search(r"Undefined control sequence: (\\[A-Za-z]+)", message)
    otherwise = "fix the formula; KaTeX's list of supported functions names what it knows"
    remedy = suggest(command[1], [f"\\{name}" for name in COMMON_NAMES.split()], otherwise) if command else otherwise
    return MathMistake(message, position, remedy)
