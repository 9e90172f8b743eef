"""Remembers which checks held, so that an unchanged course is not run again.

The memory belongs to one machine and is never committed: a fresh clone proves everything again.
"""

import hashlib
import json
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from graders.contract.hello import WorkerHello

FOLDER = ".cache"
FORMAT = 2

GPU = Path("/dev/nvidia0")


def identify_engine(graders_folder: Path) -> str:
    """Identifies what a kept result depends on besides the check, without starting graders: their code and needs."""
    digest = hashlib.sha256(f"{platform.python_version()} {platform.release()} {GPU.exists()}".encode())
    for package in ("torch", "numpy"):
        digest.update(_version(package).encode())
    for path in sorted(graders_folder.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:24]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


class Memory:
    """Digests of the checks that held and the graders that ran them, in one file under the course's root."""

    def __init__(self, root: Path, engine: str) -> None:
        self._path = root / FOLDER / "check.json"
        self._engine = engine
        document = _read(self._path, engine)
        self._held: dict[str, str] = dict(document.get("held", {}))
        self.hello = _read_hello(document)

    def holds(self, name: str, digest: str) -> bool:
        return self._held.get(name) == digest

    def keep(self, name: str, digest: str) -> None:
        self._held[name] = digest

    def forget(self, name: str) -> None:
        self._held.pop(name, None)

    def meet(self, hello: WorkerHello) -> None:
        """Records which graders run the checks now. Results from other graders are forgotten."""
        if self.hello is not None and _essence(self.hello) != _essence(hello):
            self._held.clear()
        self.hello = hello

    def save(self) -> None:
        self._path.parent.mkdir(exist_ok=True)
        (self._path.parent / ".gitignore").write_text("*\n", encoding="utf-8")
        hello = self.hello.model_dump(mode="json") if self.hello else None
        document = {"format": FORMAT, "engine": self._engine, "hello": hello, "held": self._held}
        fresh = self._path.with_suffix(".new")
        fresh.write_text(json.dumps(document, indent=0, sort_keys=True), encoding="utf-8")
        fresh.replace(self._path)


def _essence(hello: WorkerHello) -> tuple[str, ...]:
    return hello.python, hello.torch, hello.device


def _read(path: Path, engine: str) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    known = isinstance(document, dict) and (document.get("format"), document.get("engine")) == (FORMAT, engine)
    return document if known else {}


def _read_hello(document: dict[str, Any]) -> WorkerHello | None:
    try:
        return WorkerHello.model_validate(document["hello"])
    except (KeyError, ValidationError):
        return None
