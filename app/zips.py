"""Packs a folder's files as a zip."""

import io
import zipfile
from collections.abc import Mapping

DATED = (1980, 1, 1, 0, 0, 0)
"""The time of each file in a zip: the same files always give the same bytes."""


def pack(folder: str, files: Mapping[str, bytes]) -> bytes:
    """A zip of these files, in one folder of that name."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(f"{folder}/{path}", DATED)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, content)
    return written.getvalue()
