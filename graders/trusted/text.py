"""Text from the box made safe to show: a claim of the learner's process, without control characters, and short."""

import codecs
import io
import unicodedata

KEPT = frozenset("\n\t")


class TextStream:
    """Bytes of one stream, in pieces, to text; a character cut in two by a piece's end waits for its rest."""

    def __init__(self) -> None:
        utf8 = codecs.getincrementaldecoder("utf-8")("replace")
        self._decoder = io.IncrementalNewlineDecoder(utf8, translate=True)

    def read(self, piece: bytes) -> str:
        return clean_text(self._decoder.decode(piece))


def read_text(raw: bytes) -> str:
    """A whole stream as text."""
    return TextStream().read(raw)


def clean_text(text: str, longest: int | None = None) -> str:
    """Without control, direction-changing and unpaired characters; cut to `longest` characters."""
    kept = text[:longest]
    if not kept.replace("\n", "").replace("\t", "").isprintable():
        kept = "".join(c for c in kept if c in KEPT or unicodedata.category(c) not in ("Cc", "Cf", "Cs"))
    return kept + " …" if longest is not None and len(text) > longest else kept
