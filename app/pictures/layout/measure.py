"""How wide a text will be, from built-in tables, so that boxes fit without reading any font file.

The tables are for the fonts that the site serves: Literata, regular and semi-bold, and a monospace of 0.6 em.
`_SPARE` leaves room for the fallback fonts shown while these load.
"""

import unicodedata
from collections.abc import Callable
from functools import lru_cache

_FIRST, _LAST = 32, 126
_TEXT_MILLI_EM = (
    200, 321, 386, 672, 561, 850, 810, 235, 332, 332, 449, 582, 328, 354, 333, 427, 579, 407, 508, 542,
    551, 508, 538, 507, 551, 524, 333, 328, 582, 582, 582, 538, 849, 733, 659, 699, 765, 636, 614, 751,
    839, 409, 557, 753, 636, 1002, 833, 760, 602, 760, 724, 598, 736, 809, 737, 1089, 706, 714, 656, 333,
    427, 333, 582, 470, 500, 539, 607, 499, 612, 519, 386, 558, 661, 333, 309, 608, 335, 969, 661, 586,
    617, 600, 473, 452, 403, 634, 590, 858, 567, 575, 486, 372, 420, 372, 582,
)  # fmt: skip
_BOLD_MILLI_EM = (
    201, 334, 428, 687, 588, 896, 832, 253, 353, 353, 451, 582, 326, 342, 330, 476, 609, 413, 532, 555,
    593, 536, 576, 536, 581, 566, 330, 326, 582, 582, 582, 555, 925, 751, 685, 708, 776, 658, 633, 765,
    841, 416, 572, 778, 646, 989, 836, 774, 644, 782, 741, 610, 744, 791, 753, 1104, 746, 739, 681, 350,
    478, 350, 581, 470, 500, 570, 640, 535, 649, 557, 419, 596, 683, 359, 331, 658, 357, 991, 687, 616,
    651, 633, 527, 489, 431, 668, 616, 892, 596, 604, 524, 370, 438, 370, 582,
)  # fmt: skip
_OTHER_MILLI_EM = 700
_WIDE_MILLI_EM = 1050
_MONO_MILLI_EM = 605
_SPARE = 1.03
ELLIPSIS = "…"
LETTER_EM = _MONO_MILLI_EM / 1000
"""The width of a letter of the monospace."""


# Cached because the same text is measured at several places, and a loop's code once per iteration.
@lru_cache(maxsize=8_192)
def text_width(text: str, size: float, *, mono: bool = False, bold: bool = False) -> float:
    """The text's width in pixels at a font size in pixels."""
    if mono:
        return sum(map(_mono_milli_em, text)) * size / 1000
    table = _BOLD_MILLI_EM if bold else _TEXT_MILLI_EM
    return sum(_text_milli_em(letter, table) for letter in text) * size * _SPARE / 1000


def _text_milli_em(letter: str, table: tuple[int, ...]) -> int:
    code = ord(letter)
    if _FIRST <= code <= _LAST:
        return table[code - _FIRST]
    return _rare_milli_em(letter, _OTHER_MILLI_EM)


def _mono_milli_em(letter: str) -> int:
    return _MONO_MILLI_EM if ord(letter) <= _LAST else _rare_milli_em(letter, _MONO_MILLI_EM)


def _rare_milli_em(letter: str, ordinary: int) -> int:
    if unicodedata.combining(letter):
        return 0
    return _WIDE_MILLI_EM if unicodedata.east_asian_width(letter) in "WF" else ordinary


def shorten_end(text: str, room: float, size: float, *, mono: bool = False, bold: bool = False) -> str:
    """The longest beginning of the text that fits `room` pixels, with an ellipsis if it was cut."""
    if text_width(text, size, mono=mono, bold=bold) <= room:
        return text
    kept = _longest(text, room, lambda part: text_width(part + ELLIPSIS, size, mono=mono, bold=bold))
    return kept.rstrip() + ELLIPSIS


def shorten_start(text: str, room: float, size: float, *, mono: bool = False, bold: bool = False) -> str:
    """The longest end of a dotted name that fits, cut at a dot if possible; the end distinguishes sibling modules."""
    rest = text
    while rest:
        if text_width(rest, size, mono=mono, bold=bold) <= room:
            return rest
        rest = rest.partition(".")[2]
    last = text.rpartition(".")[2]
    kept = _longest(last[::-1], room, lambda part: text_width(part + ELLIPSIS, size, mono=mono, bold=bold))
    return ELLIPSIS + kept[::-1]


def _longest(text: str, room: float, width: Callable[[str], float]) -> str:
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if width(text[:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    return text[:low]
