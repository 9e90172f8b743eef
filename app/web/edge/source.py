"""Check a learner's code on arrival. Browsers send CRLF from forms; the limit counts bytes, not characters."""

from starlette.exceptions import HTTPException

from graders.contract.limits import MAX_SOURCE_BYTES

MAX_SOURCE_KIB = MAX_SOURCE_BYTES // 1024


def clean_source(text: str) -> str:
    """The code with plain line ends. Raises a 413 if it is too long, or a 422 if it contains a lone surrogate."""
    source = text.replace("\r\n", "\n").replace("\r", "\n")
    try:
        size_bytes = len(source.encode())
    except UnicodeEncodeError:
        raise HTTPException(
            422, "The text contains half of a character (a lone surrogate); type that place again."
        ) from None
    if size_bytes > MAX_SOURCE_BYTES:
        raise HTTPException(413, f"That is more than {MAX_SOURCE_KIB} KiB of code, the most that one run accepts.")
    return source
