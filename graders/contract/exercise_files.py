"""Which files of an exercise's folder judge an answer, and the digest that distinguishes versions of them."""

import hashlib
from collections.abc import Mapping

MANIFEST = "exercise.toml"
PROBE = "probe.py"
CASES = "cases.py"
SOLUTION = "solution.py"
NEEDED_FILES = (MANIFEST, SOLUTION, CASES, PROBE)
BENCHMARK = "benchmark.py"
JUDGING_FILES = (*NEEDED_FILES, "host.py", BENCHMARK)
"""host.py exists only if a part of a case stays outside the box, benchmark.py only in a lab that is timed. Prompt,
hints, starter and attempts do not judge."""


def digest_exercise(files: Mapping[str, bytes]) -> str:
    """16 hex digits of SHA-256 over the names and bytes of the judging files; other files are ignored."""
    digest = hashlib.sha256()
    for name in sorted(files.keys() & set(JUDGING_FILES)):
        digest.update(f"{name}\0{len(files[name])}\0".encode() + files[name])
    return digest.hexdigest()[:16]
