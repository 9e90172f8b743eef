"""Which host files a box's root needs: the interpreter and numpy, and for the torch flavour also what torch needs."""

import importlib.metadata
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from graders.box.card import Card
from graders.box.interface import BoxFault
from graders.box.jail.orders import RootPlan
from graders.contract.jobs import Flavour

DEVICES = ("/dev/null", "/dev/urandom", "/dev/random")
TOP_LINKS = ("/lib", "/lib64", "/bin")
# A program that exists in the root, so that an exec that fails there was refused and did not just find no file.
EXECUTABLE = "/usr/bin/env"
PACKAGES = {Flavour.PLAIN: ("numpy",), Flavour.TORCH: ("torch", "numpy")}


def plan_root(flavour: Flavour, card: Card | None = None) -> RootPlan:
    """List what a zygote of this flavour binds into its root. Raises BoxFault if its package is not installed.

    `card` is the card that its runs may use; without one, they see no device of the driver.
    """
    stdlib = sysconfig.get_path("stdlib")
    packages, folders = _find_packages(PACKAGES[flavour])
    # numpy finds its own modules through its own path. Its folder also holds torch, which a plain run must not see.
    shown = folders if flavour is Flavour.TORCH else ()
    readable = (stdlib, *_library_folders(), EXECUTABLE, *packages, *(card.library_folders if card else ()))
    covered = tuple(str(p) for p in (Path(stdlib) / "site-packages", Path(stdlib) / "dist-packages") if p.is_dir())
    return RootPlan(
        readable=tuple(sorted({path for path in readable if Path(path).exists()})),
        covered=covered,
        listed=shown,
        devices=tuple(device for device in DEVICES if Path(device).exists()),
        links=tuple((path, str(Path(path).readlink())) for path in TOP_LINKS if Path(path).is_symlink()),
        module_paths=(stdlib, os.path.join(stdlib, "lib-dynload"), *shown),
        warm_paths=tuple(folder for folder in folders if folder not in shown),
        card_nodes=card.nodes if card else (),
        written=card.facts if card else (),
    )


def clean_environment(card: Card | None = None) -> dict[str, str]:
    """The zygote's whole environment. Every child can read it in its first stack page, so it must hold no secret."""
    # The loader reads its path when the interpreter starts, so that a child finds the driver after all later changes.
    cards = {"LD_LIBRARY_PATH": ":".join(card.library_folders)} if card and card.library_folders else {}
    # The mother may be asked whether there is a card while she imports; CUDA's own answer would forbid her to fork.
    cards |= {"PYTORCH_NVML_BASED_CUDA_CHECK": "1"} if card else {}
    return cards | {
        "HOME": "/tmp",
        "PATH": "/usr/bin",
        "LANG": "C.UTF-8",
        "TMPDIR": "/tmp",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        # Code that asks for 5000 threads gets 8 and goes on; without this limit the process would die.
        "OMP_THREAD_LIMIT": "8",
    }


def python_command(code: str) -> list[str]:
    """The command that runs `code` in a new interpreter without site, PYTHON* variables and the working directory."""
    repository = str(Path(__file__).resolve().parents[2])
    return [
        sys.executable,
        "-I",
        "-S",
        "-B",
        "-X",
        "utf8",
        "-c",
        f"import sys; sys.path.insert(0, {repository!r})\n{code}",
    ]


def _library_folders() -> tuple[str, ...]:
    """The C library's folder: extension modules that are imported late look for their libraries there."""
    folders = set()
    for line in Path("/proc/self/maps").read_text().splitlines():
        path = line.split(maxsplit=5)[-1]
        if re.search(r"/(libc|libm|ld-linux-x86-64)[.-][^/]*$", path):
            folders.add(str(Path(path).resolve().parent))
    return tuple(sorted(folders))


def _find_packages(wanted: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(the files and folders of the packages and their requirements, the folders that contain them)."""
    found: dict[str, importlib.metadata.Distribution] = {}
    seen: set[str] = set()
    waiting = [Requirement(name) for name in wanted]
    while waiting:
        required = waiting.pop()
        # Its extras too: CUDA builds of torch require their libraries as extras of one package.
        name = f"{canonicalize_name(required.name)}[{','.join(sorted(required.extras))}]"
        if name in seen:
            continue
        seen.add(name)
        try:
            distribution = importlib.metadata.distribution(required.name)
        except importlib.metadata.PackageNotFoundError:
            continue
        found[canonicalize_name(required.name)] = distribution
        waiting += _list_required(distribution, required.extras)
    if missing := [name for name in wanted if name not in found]:
        raise BoxFault(f"{missing[0]} is not installed for {sys.executable}; install it, or leave that flavour out")
    entries = {entry for distribution in found.values() for entry in _top_entries(distribution)}
    return tuple(sorted(entries)), tuple(sorted({str(Path(entry).parent) for entry in entries}))


def _list_required(distribution: importlib.metadata.Distribution, extras: Iterable[str]) -> list[Requirement]:
    """What it requires on this machine, by itself and for these extras."""
    requirements = [Requirement(text) for text in distribution.requires or []]
    chosen = ["", *extras]
    return [one for one in requirements if not one.marker or any(one.marker.evaluate({"extra": e}) for e in chosen)]


def _top_entries(distribution: importlib.metadata.Distribution) -> set[str]:
    folder = str(distribution.locate_file(""))
    tops = {file.parts[0] for file in distribution.files or [] if file.parts[0] not in ("..", "__pycache__")}
    return {os.path.join(os.path.normpath(folder), top) for top in tops if not top.endswith(".pth")}
