"""How wide a text will be, from a built-in table, so that boxes fit without reading any font file.

The table is the mean of two common sans-serif faces, a wide and a narrow one: a box measured with it
holds the text in either.
"""

import unicodedata
from collections.abc import Callable

_FIRST, _LAST = 32, 126
_SANS_MILLI_EM = (
    298, 340, 408, 697, 596, 920, 724, 233, 362, 362, 444, 711, 298, 347, 298, 308, 596, 596, 596, 596,
    596, 596, 596, 596, 596, 596, 308, 308, 711, 711, 711, 544, 1008, 676, 676, 710, 746, 650, 593, 776,
    737, 286, 398, 662, 556, 848, 735, 782, 635, 782, 708, 651, 611, 727, 676, 966, 676, 639, 648, 334,
    308, 334, 654, 528, 416, 584, 596, 525, 596, 586, 315, 596, 595, 250, 250, 540, 250, 904, 595, 584,
    596, 596, 372, 510, 335, 595, 546, 770, 546, 546, 512, 485, 298, 485, 711,
)  # fmt: skip
_OTHER_MILLI_EM = 640
_WIDE_MILLI_EM = 1050
_MONO_MILLI_EM = 605
_BOLD = 1.07
ELLIPSIS = "…"


def text_width(text: str, size: float, *, mono: bool = False, bold: bool = False) -> float:
    """Width in pixels at a font size in pixels."""
    milli = sum(_mono_milli_em(letter) if mono else _sans_milli_em(letter) for letter in text)
    return milli * size / 1000 * (_BOLD if bold and not mono else 1.0)


def _sans_milli_em(letter: str) -> int:
    code = ord(letter)
    if _FIRST <= code <= _LAST:
        return _SANS_MILLI_EM[code - _FIRST]
    return _rare_milli_em(letter, _OTHER_MILLI_EM)


def _mono_milli_em(letter: str) -> int:
    return _MONO_MILLI_EM if ord(letter) <= _LAST else _rare_milli_em(letter, _MONO_MILLI_EM)


def _rare_milli_em(letter: str, ordinary: int) -> int:
    if unicodedata.combining(letter):
        return 0
    return _WIDE_MILLI_EM if unicodedata.east_asian_width(letter) in "WF" else ordinary


def shorten_end(text: str, room: float, size: float, *, mono: bool = False, bold: bool = False) -> str:
    """The longest beginning of the text that fits `room` pixels, with an ellipsis where it was cut."""
    if text_width(text, size, mono=mono, bold=bold) <= room:
        return text
    kept = _longest(text, room, lambda part: text_width(part + ELLIPSIS, size, mono=mono, bold=bold))
    return kept.rstrip() + ELLIPSIS


def shorten_start(text: str, room: float, size: float, *, mono: bool = False, bold: bool = False) -> str:
    """The longest end of the text that fits: the end of a parameter's dotted name tells it from its siblings."""
    if text_width(text, size, mono=mono, bold=bold) <= room:
        return text
    kept = _longest(text[::-1], room, lambda part: text_width(part + ELLIPSIS, size, mono=mono, bold=bold))
    return ELLIPSIS + kept[::-1].lstrip(".")


def _longest(text: str, room: float, width: Callable[[str], float]) -> str:
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if width(text[:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    return text[:low]
