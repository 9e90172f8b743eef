"""The conditions for a start, each with one sentence that says what to do if it is not met."""

import errno
import hmac
import shutil
import socket
import tempfile
from pathlib import Path

from app.course.course_file import CourseFile
from app.course.explained import PATH as COURSE_FILE
from app.course.files import read_text
from app.course.language.toml_file import read_toml
from app.course.problems import Report, Rule
from app.settings import Settings
from app.storage.database import MigrationRefused, migrate
from graders.contract.course_versions import live_course

LEAST_FREE_MIB = 64


class CannotServe(Exception):
    """The operator must fix something first; the message says what."""


def prepare(settings: Settings) -> str:
    """Check the course file, the data folder, the disk and the port, and bring the database up to date.

    Raises CannotServe. Returns a warning for the operator, or an empty text.
    """
    if not settings.preview:
        check_course(live_course(settings.data, settings.course))
    check_data_folder(settings.data)
    check_disk(settings.data)
    check_port(settings.host, settings.port)
    try:
        migrate(settings.database, settings.data)
    except MigrationRefused as refusal:
        raise CannotServe(str(refusal)) from refusal
    return note_secret(settings)


def check_course(root: Path) -> None:
    """A course whose course.toml cannot be read would be a site without chapters. The preview shows the mistake."""
    path = root / COURSE_FILE
    report = Report(str(path))
    if not path.is_file():
        raise CannotServe(f"{path} does not exist: choose the course's folder with COURSE=/path/to/course.")
    text = read_text(path, root, Rule.COURSE_FILE, report)
    if not report.problems and read_toml(text, CourseFile, Rule.COURSE_FILE, report) is not None:
        return
    first = report.problems[0]
    raise CannotServe(f"{path}:{first.line}: {first.message}: {first.remedy}. `python -m app check` lists all of it.")


def note_secret(settings: Settings) -> str:
    """A warning if the secret differs from the last start's, because every browser would then be a new learner."""
    keyed = hmac.new(settings.secret.get_secret_value().encode(), b"the secret of this data folder", "sha256")
    fingerprint, file = keyed.hexdigest()[:16], settings.data / "secret.fingerprint"
    before = file.read_text(encoding="ascii").strip() if file.is_file() else fingerprint
    file.write_text(fingerprint + "\n", encoding="ascii")
    if before == fingerprint:
        return ""
    return (
        "UNWIND_SECRET differs from the last start's: no browser is recognised any more, and each begins as a new "
        "learner. If you did not intend this, stop, set the former secret and start again; nothing is lost."
    )


def check_data_folder(data: Path) -> None:
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=data) as probe:
            probe.write(b"x" * 4096)
            probe.flush()
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise CannotServe(_disk_full(data)) from error
        raise CannotServe(
            f"The data folder {data} cannot be written ({error.strerror}): let this user write there, "
            "or choose another with DATA=/another/folder."
        ) from error


def check_disk(data: Path) -> None:
    if shutil.disk_usage(data).free < LEAST_FREE_MIB * 2**20:
        raise CannotServe(_disk_full(data))


def _disk_full(data: Path) -> str:
    free_mib = shutil.disk_usage(data).free // 2**20
    return (
        f"The disk with the data folder {data} is full ({free_mib} MiB free, {LEAST_FREE_MIB} needed): "
        "make room, or choose another with DATA=/another/folder."
    )


def check_port(host: str, port: int) -> None:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            # As the server does: a port whose last connections are still closing counts as free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise CannotServe(_port_refused(host, port, error)) from error


def _port_refused(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} is used by another program: stop that one, or choose another port with PORT={port + 1}."
    if error.errno == errno.EACCES:
        return f"Port {port} is reserved for the administrator: choose one above 1023, for example PORT=8000."
    return f"{host} is not an address of this machine ({error.strerror}): set UNWIND_HOST, for example to 127.0.0.1."
