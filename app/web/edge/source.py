"""A learner's code as it comes in: browsers send CRLF from forms, and bytes count, not characters."""

from starlette.exceptions import HTTPException

from graders.contract.limits import MAX_SOURCE_BYTES

MAX_SOURCE_KIB = MAX_SOURCE_BYTES // 1024


def clean_source(text: str) -> str:
    """With plain line ends. Raises a 413 or 422 in words when it is too long, or holds half a character."""
    source = text.replace("\r\n", "\n").replace("\r", "\n")
    try:
        size_bytes = len(source.encode())
    except UnicodeEncodeError:
        raise HTTPException(
            422, "The text holds half of a character (a lone surrogate); type that place again."
        ) from None
    if size_bytes > MAX_SOURCE_BYTES:
        raise HTTPException(413, f"That is more than {MAX_SOURCE_KIB} KiB of code, which is the most one run takes.")
    return source
