"""Makes text from the box safe to show: removes control characters and shortens it. It remains an untrusted claim."""

import codecs
import io
import unicodedata

KEPT = frozenset("\n\t")


class TextStream:
    """Turns the pieces of one byte stream into text. A character that is split between two pieces is kept whole."""

    def __init__(self) -> None:
        utf8 = codecs.getincrementaldecoder("utf-8")("replace")
        self._decoder = io.IncrementalNewlineDecoder(utf8, translate=True)

    def read(self, piece: bytes) -> str:
        return clean_text(self._decoder.decode(piece))


def read_text(raw: bytes) -> str:
    """A whole stream as text."""
    return TextStream().read(raw)


def clean_text(text: str, longest: int | None = None) -> str:
    """The text without control, direction-changing and surrogate characters, cut to `longest` characters."""
    kept = text[:longest]
    if not kept.replace("\n", "").replace("\t", "").isprintable():
        kept = "".join(c for c in kept if c in KEPT or unicodedata.category(c) not in ("Cc", "Cf", "Cs"))
    return kept + " …" if longest is not None and len(text) > longest else kept
