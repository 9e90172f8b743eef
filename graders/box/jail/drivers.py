"""Imports the drivers from the host's folder, but names them by the paths that they have in the learner's root."""

import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Final

INIT: Final = "__init__.py"


class _Loader(SourceFileLoader):
    """Names the file `path`, but reads it from `source`."""

    def __init__(self, name: str, path: str, source: Path) -> None:
        super().__init__(name, path)
        self._source = source

    def get_data(self, path: str) -> bytes:
        return self._source.read_bytes()

    def path_stats(self, path: str) -> dict[str, float]:
        raise OSError(f"{path}: compiled bytecode would name the host's folder")


class _Finder:
    """Finds modules beneath `folder`, and gives their specs paths beneath `shown`."""

    def __init__(self, folder: Path, shown: str) -> None:
        self._folder = folder
        self._shown = Path(shown)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        place = Path(*name.split("."))
        if not (self._folder / place).with_suffix(".py").is_file():
            place /= INIT
        file = place.with_suffix(".py")
        if not (self._folder / file).is_file():
            return None
        shown = self._shown / file
        packages = [str(shown.parent)] if file.name == INIT else None
        loader = _Loader(name, str(shown), self._folder / file)
        return importlib.util.spec_from_file_location(name, shown, loader=loader, submodule_search_locations=packages)


def list_modules(folder: str) -> list[str]:
    """The dotted names of all modules beneath it, packages first."""
    files = sorted(Path(folder).rglob("*.py"))
    parts = [file.relative_to(folder).with_suffix("").parts for file in files]
    return [".".join(part for part in one if part != "__init__") for one in parts]


def load_as_shown(folder: str, shown: str, load: Callable[[], object]) -> None:
    """Run `load` while imports look in `folder` first; the modules found there name files beneath `shown`."""
    finder = _Finder(Path(folder), shown)
    sys.meta_path.insert(0, finder)
    try:
        load()
    finally:
        sys.meta_path.remove(finder)
    for module in list(sys.modules.values()):
        spec = getattr(module, "__spec__", None)
        if spec is not None and isinstance(spec.loader, _Loader):
            module.__loader__ = spec.loader = SourceFileLoader(spec.name, spec.loader.path)
