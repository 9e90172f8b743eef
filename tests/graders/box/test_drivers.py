"""Drivers are read from one folder and named as if they lay in another."""

import importlib
import sys
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

from graders.box.jail.drivers import list_modules, load_as_shown

NAMES = ("shown_alone", "shown_package", "shown_package.part")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "shown_package").mkdir()
    (tmp_path / "shown_alone.py").write_text("import shown_package.part\n\ndef where(): return 1\n")
    (tmp_path / "shown_package" / "__init__.py").write_text("")
    (tmp_path / "shown_package" / "part.py").write_text("VALUE = 3\n")
    yield tmp_path
    for name in NAMES:
        sys.modules.pop(name, None)


def test_a_module_says_that_it_lies_where_it_is_shown(folder: Path) -> None:
    load_as_shown(str(folder), "/shown", lambda: importlib.import_module("shown_alone"))
    alone, package = sys.modules["shown_alone"], sys.modules["shown_package"]

    assert alone.where.__code__.co_filename == alone.__file__ == "/shown/shown_alone.py"
    assert (package.__path__, package.part.VALUE) == (["/shown/shown_package"], 3)


def test_nothing_of_the_real_folder_stays_with_a_module(folder: Path) -> None:
    load_as_shown(str(folder), "/shown", lambda: importlib.import_module("shown_alone"))

    for name in NAMES:
        module = sys.modules[name]
        assert type(module.__loader__) is SourceFileLoader
        assert str(folder) not in f"{vars(module)} {module.__spec__} {vars(module.__loader__)}"
    with pytest.raises(ModuleNotFoundError):
        load_as_shown("/nowhere", "/shown", lambda: importlib.import_module("shown_package.other"))


def test_modules_are_listed_by_their_dotted_names(folder: Path) -> None:
    assert sorted(list_modules(str(folder))) == sorted(NAMES)
