"""The gallery: Python files that say in their docstring what to see."""

from pathlib import Path

import pytest

from app.course.gallery import Snippet, read_gallery, read_snippet

ROOT = Path(__file__).resolve().parents[3]


def test_a_snippet_has_its_docstring_as_title_and_text_and_the_rest_as_code() -> None:
    text = '"""A title\n\nWhat to see,\nin two lines.\n"""\n\nx = 1\n'
    assert read_snippet("01-x", text) == Snippet("01-x", "A title", "What to see, in two lines.", "x = 1\n")


@pytest.mark.parametrize("text", ["x = 1\n", "x = = 1\n", ""])
def test_a_file_without_a_docstring_goes_by_its_name(text: str) -> None:
    assert read_snippet("02-plain", text) == Snippet("02-plain", "02-plain", "", text)


def test_a_gallery_stands_in_the_order_of_its_file_names(tmp_path: Path) -> None:
    assert read_gallery(tmp_path) == ()
    (tmp_path / "gallery").mkdir()
    for name in ("02-b", "01-a"):
        (tmp_path / "gallery" / f"{name}.py").write_text(f'"""{name}"""\n')
    assert [snippet.id for snippet in read_gallery(tmp_path)] == ["01-a", "02-b"]


def test_every_program_of_this_course_says_what_to_see() -> None:
    gallery = read_gallery(ROOT)
    assert len(gallery) == 10
    assert [snippet.id for snippet in gallery if not snippet.text] == []
