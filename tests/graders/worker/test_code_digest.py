"""An operator can tell two checkouts of one version apart."""

from pathlib import Path

from graders.worker.code_digest import digest_code


def test_the_digest_of_code_changes_with_a_files_name_and_content_and_with_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    file = tmp_path / "inner" / "a.py"
    file.write_text("x = 1\n")
    first = digest_code(tmp_path)
    (tmp_path / "notes.md").write_text("no code")
    assert digest_code(tmp_path) == first
    file.write_text("x = 2\n")
    second = digest_code(tmp_path)
    file.rename(tmp_path / "a.py")
    assert len({first, second, digest_code(tmp_path)}) == 3
