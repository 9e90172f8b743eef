"""Where a grader finds exercises: in the live version of the course first, then in the versions that are still kept.

A submission names the files of its exercise, so one that waited while another version was published is judged by the
version that its learner saw.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from graders.contract.model import ExerciseName
from graders.trusted.exercise import read_digest, read_digests


class ExerciseFolders:
    """`list_folders` is asked each time, because what is published changes while a grader runs."""

    def __init__(self, list_folders: Callable[[], Sequence[Path]]) -> None:
        self._list_folders = list_folders

    def find(self, name: str, digest: str) -> Path:
        """The first folder whose exercise has this digest; the live one if none has, or for an empty digest."""
        folders = self._list_folders()
        return next((folder for folder in folders if digest and read_digest(folder, name) == digest), folders[0])

    def has(self, name: str, digest: str) -> bool:
        return any(read_digest(folder, name) == digest for folder in self._list_folders())

    def read_digests(self) -> dict[ExerciseName, str]:
        """The digest of each live exercise."""
        return read_digests(self._list_folders()[0])

    def read_earlier(self) -> dict[ExerciseName, tuple[str, ...]]:
        """The other digests that can be judged, for each exercise that has any."""
        live, *others = [read_digests(folder) for folder in self._list_folders()]
        found: dict[ExerciseName, set[str]] = {}
        for digests in others:
            for name, digest in digests.items():
                if live.get(name) != digest:
                    found.setdefault(name, set()).add(digest)
        return {name: tuple(sorted(digests)) for name, digests in sorted(found.items())}


def one_folder(folder: Path) -> ExerciseFolders:
    """Of a course that is not published, such as an author's."""
    return ExerciseFolders(lambda: (folder,))
