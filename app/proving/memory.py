"""Remembers which trials held, so that a course that has not changed is not run again.

The memory belongs to one machine and is never committed: a fresh clone proves everything for itself.
"""

import hashlib
import json
from pathlib import Path

from graders.contract.hello import WorkerHello

FOLDER = ".cache"
FORMAT = 1


def identify_engine(graders_folder: Path, hello: WorkerHello) -> str:
    """What a kept result depends on beside the trial: the graders' own code, and what they run on."""
    digest = hashlib.sha256(f"{hello.python} {hello.torch} {hello.device} {hello.profile}".encode())
    for path in sorted(graders_folder.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:24]


class Memory:
    """Digests of the trials that held, in one file under the course's root."""

    def __init__(self, root: Path, engine: str) -> None:
        self._path = root / FOLDER / "check.json"
        self._engine = engine
        self._held: dict[str, str] = _read(self._path, engine)

    def holds(self, name: str, digest: str) -> bool:
        return self._held.get(name) == digest

    def keep(self, name: str, digest: str) -> None:
        self._held[name] = digest

    def forget(self, name: str) -> None:
        self._held.pop(name, None)

    def save(self) -> None:
        self._path.parent.mkdir(exist_ok=True)
        (self._path.parent / ".gitignore").write_text("*\n", encoding="utf-8")
        document = {"format": FORMAT, "engine": self._engine, "held": self._held}
        fresh = self._path.with_suffix(".new")
        fresh.write_text(json.dumps(document, indent=0, sort_keys=True), encoding="utf-8")
        fresh.replace(self._path)


def _read(path: Path, engine: str) -> dict[str, str]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    if not isinstance(document, dict) or (document.get("format"), document.get("engine")) != (FORMAT, engine):
        return {}
    held = document.get("held")
    return {str(name): str(digest) for name, digest in held.items()} if isinstance(held, dict) else {}
