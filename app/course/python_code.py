"""Says whether Python parses, without running it, and on which line it does not."""

import warnings
from dataclasses import dataclass


@dataclass(frozen=True)
class SyntaxMistake:
    """A parse error; `line` counts from 1 within the code."""

    line: int
    message: str


def find_syntax_mistake(source: str) -> SyntaxMistake | None:
    """The first mistake that keeps `source` from compiling, or None."""
    try:
        with warnings.catch_warnings():
            # A doubtful escape is a warning today and legal code; the box shows it to the reader.
            warnings.simplefilter("ignore")
            compile(source, "cell.py", "exec", dont_inherit=True)
    except SyntaxError as error:
        return SyntaxMistake(error.lineno or 1, error.msg)
    except ValueError as error:
        return SyntaxMistake(1, str(error))
    return None
