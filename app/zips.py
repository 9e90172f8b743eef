"""Packs a folder's files as a zip, and reads a folder or a zip that a stranger made, in memory alone."""

import io
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

DATED = (1980, 1, 1, 0, 0, 0)
"""The time of each file in a zip: the same files always give the same bytes."""

MAX_FILES = 500
MAX_FILE_BYTES = 1 << 20
MAX_BYTES = 16 << 20
"""Of all files together, and of a zip."""
MAX_PATH = 200
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    OSError,
    ValueError,
)
"""What zipfile raises for a zip that it cannot read."""


class Refused(Exception):
    """A folder or a zip is not taken; the message names the file, what is wrong, and what to do."""


def pack(folder: str, files: Mapping[str, bytes]) -> bytes:
    """A zip of these files, in one folder of that name."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(f"{folder}/{path}", DATED)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, content)
    return written.getvalue()


def unpack(content: bytes) -> tuple[str, dict[str, bytes]]:
    """The name of a zip's one folder, and its files by path within it. Raises Refused."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            _check_amount(len(entries), sum(entry.file_size for entry in entries))
            for entry in entries:
                _check_entry(entry)
            files = [(entry.filename, _read_entry(archive, entry)) for entry in entries if not entry.is_dir()]
    except BROKEN as error:
        raise Refused(f"the zip cannot be read ({error}): make it again") from error
    tops = {name.partition("/")[0] for name, _ in files}
    if len(tops) != 1 or not all("/" in name for name, _ in files):
        raise Refused(
            f"the zip holds {', '.join(sorted(tops)[:4]) or 'nothing'}: zip one folder, with all files in it"
        )
    (top,) = tops
    return top, _without_doubles([(name.removeprefix(f"{top}/"), text) for name, text in files])


def read_folder(folder: Path) -> dict[str, bytes]:
    """The files of a folder, by path within it, without hidden files and bytecode. Raises Refused."""
    found: list[tuple[str, Path]] = []
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and name != "__pycache__"]
        for name in (*folders, *names):
            path = Path(here) / name
            mode = path.lstat().st_mode
            shown = path.relative_to(folder).as_posix()
            if stat.S_ISLNK(mode) or not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise Refused(f"{shown} is a link or no regular file: put the file itself there")
            if stat.S_ISREG(mode) and not name.startswith("."):
                found.append((shown, path))
    sizes = {shown: path.lstat().st_size for shown, path in found}
    _check_amount(len(found), sum(sizes.values()))
    for shown, size in sizes.items():
        _check_size(shown, size)
    return _without_doubles([(shown, path.read_bytes()) for shown, path in found])


def _check_amount(files: int, size: int) -> None:
    if files > MAX_FILES:
        raise Refused(f"there are {files} files; at most {MAX_FILES} are taken")
    if size > MAX_BYTES:
        raise Refused(f"the files have {size} bytes together; at most {MAX_BYTES} are taken")


def _check_size(name: str, size: int) -> None:
    if size > MAX_FILE_BYTES:
        raise Refused(f"{name} has {size} bytes; at most {MAX_FILE_BYTES} are taken")


def _check_entry(entry: zipfile.ZipInfo) -> None:
    # `filename` ends at a NUL; `orig_filename` is what the zip says.
    name = entry.orig_filename
    parts = name.removesuffix("/").split("/")
    strange = any(part in ("", ".", "..") for part in parts) or any(sign in name for sign in "\\:")
    if strange or not name.isprintable() or len(name) > MAX_PATH:
        raise Refused(f"{name[:80]!r} is no path within one folder: zip the folder again")
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFDIR if entry.is_dir() else stat.S_IFREG):
        raise Refused(f"{name} is a link or no regular file: put the file itself there")
    if entry.flag_bits & 1 or entry.compress_type not in METHODS:
        raise Refused(f"{name} is encrypted, or compressed in a way that is not read here: zip the folder again")
    _check_size(name, entry.file_size)


def _read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """The content, of which no more is unpacked than the zip said and `_check_size` allowed."""
    with archive.open(entry) as opened:
        content = opened.read(entry.file_size + 1)
    if len(content) != entry.file_size:
        raise Refused(f"{entry.filename} has not the size that the zip states: zip the folder again")
    return content


def _without_doubles(files: list[tuple[str, bytes]]) -> dict[str, bytes]:
    """By path. Two paths that differ only in case would be one file on some systems."""
    seen: set[str] = set()
    for name, _ in files:
        if name.casefold() in seen:
            raise Refused(f"{name} is there twice: keep one of them")
        seen.add(name.casefold())
    return dict(files)
