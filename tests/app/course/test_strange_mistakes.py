"""One mistake at a time, of kinds that a stranger to the language makes: each is reported alone, at its line."""

import shutil
from pathlib import Path

import pytest

from app.course.loader import load_course
from app.course.problems import ContentProblem

EXERCISE = Path(__file__).resolve().parents[2] / "course" / "exercises" / "double"

COURSE = """\
format = 1
title = "Strange"
tagline = "Two chapters."
torch = "2.13.0"

[concepts]
accumulation = "Adding up"

[[modules]]
id = "one"
number = 1
title = "One"
summary = "One."
chapters = [{ slug = "sums" }, { slug = "more" }]
"""

HEAD = """\
---
title: {title}
subtitle: They add.
minutes: 5
objectives: [Add]
concepts: [accumulation]
---
"""

CHAPTER = (
    HEAD.format(title="Sums")
    + """
## One

Words with a [link](chapter:more#deep).

```{cell} prints
:flavour: plain
print(2)
---
2
```

### Two

```{claim} adds
One and one are two.
---
assert 1 + 1 == 2
```

:::{question} how-many
:kind: number
:role: factual
:concepts: accumulation
:value: 2
:tolerance: 0.5
How many?

- [ ] 3
  > Too many.

+++
Two.
:::

:::{question} which
:kind: choice
:role: factual
:concepts: accumulation
Which?

- [x] Two
  > Yes.
- [ ] Three
  > No.
:::

:::{exercise} double
Do it.
:::
"""
)

MORE = HEAD.format(title="More") + "\n## Deep\n\nMore words.\n"


def write_course(root: Path, chapter: str | bytes) -> None:
    for slug, text in (("sums", chapter), ("more", MORE)):
        folder = root / "chapters" / slug
        folder.mkdir(parents=True)
        (folder / "chapter.md").write_bytes(text if isinstance(text, bytes) else text.encode())
    (root / "course.toml").write_text(COURSE)
    shutil.copytree(EXERCISE, root / "exercises" / "double")


def check(root: Path, chapter: str | bytes) -> list[ContentProblem]:
    write_course(root, chapter)
    return list(load_course(root)[1])


MISTAKES = [
    # What is replaced, by what, and the line, rule and remedy of the one problem.
    ("minutes: 5", "minutes: 5\nminutes: 6", 5, "front-matter", "keep one; the other is on line 4"),
    ("minutes: 5", "minutes: 5\nautor: me", 5, "front-matter", "write one of concepts, draft, headlines"),
    ("concepts: [", "prerequisite: [more]\nconcepts: [", 6, "front-matter", "did you mean 'prerequisites'?"),
    ("concepts: [", "prerequisites: [sums]\nconcepts: [", 6, "unknown-chapter", "name the chapters before it"),
    ("objectives: [Add]", "objectives:\n\t- Add", 6, "front-matter", "quote text that contains"),
    ("title: Sums", "title: Sums: all of them", 2, "front-matter", "quote text that contains"),
    ("title: Sums", "title: 2026-01-01", 2, "front-matter", "write the chapter's title"),
    ("minutes: 5", "minutes: 5.5", 4, "front-matter", "a whole number"),
    ("minutes: 5", "minutes: five", 4, "front-matter", "a whole number"),
    ("concepts: [accumulation]", "concepts: []", 6, "front-matter", "list concept ids"),
    ("concepts: [accumulation]\n---", "concepts: [accumulation]", 1, "front-matter", "add a line `---`"),
    ("### Two", "##### Two", 20, "heading", "write ###"),
    ("### Two", "###Two", 20, "heading", "write ### Two"),
    ("### Two", "###", 20, "heading", "write its words"),
    ("## One", "One\n===", 9, "heading", "write ## here"),
    ("[link](chapter:more#deep)", "[link](chapter:more#deeep)", 11, "dead-link", "did you mean 'deep'?"),
    ("[link](chapter:more#deep)", "[link](more/chapter.md)", 11, "dead-link", "chapter:SLUG"),
    ("[link](chapter:more#deep)", "[link](javascript:alert)", 11, "dead-link", "https://..."),
    ("[link](chapter:more#deep)", "![a](../../course.toml)", 11, "missing-file", "write figures/NAME"),
    ("[link](chapter:more#deep)", "![a](figures/../chapter.md)", 11, "missing-file", "write figures/NAME"),
    ("[link](chapter:more#deep)", "![a](/etc/hostname)", 11, "missing-file", "write figures/NAME"),
    ("[link](chapter:more#deep)", "<script>alert(1)</script>", 11, "raw-html", "use a directive or Markdown"),
    ("Words", "Wo\u200brds", 11, "invisible-character", "remove it"),
    ("print(2)", "print(2)  # \u202e", 15, "invisible-character", "remove it"),
    ("```{cell} prints", "``` {cell} prints", 13, "unknown-directive", "write python, console"),
    (":flavour: plain\nprint(2)\n---\n2", "  \n\t", 13, "missing-part", "write it in the fence"),
    ("print(2)\n---\n2", "# print(2)", 13, "missing-part", "write its code"),
    ("print(2)", "if 1:\n\tprint(2)\n        print(2)", 17, "python-syntax", "fix the line"),
    (":flavour: plain", ":flavour: torhc", 14, "option-value", "did you mean 'torch'?"),
    (":flavour: plain", ":flavour: plain\n:readonly: true", 15, "option-value", "write `:readonly:` alone"),
    ("assert 1 + 1 == 2\n", "", 22, "missing-part", "write it in the fence"),
    ("assert 1 + 1 == 2", "# assert 1 + 1 == 2", 22, "missing-part", "write its code"),
    ("assert 1 + 1 == 2", "print(1 + 1)", 25, "idle-claim", "write `assert`"),
    ("assert 1 + 1 == 2", '"""assert"""', 25, "idle-claim", "write `assert`"),
    ("assert 1 + 1 == 2", "assert True", 25, "idle-claim", "write `assert`"),
    ("assert 1 + 1 == 2", 'x = 3\nassert (x == 2, "no")', 26, "idle-claim", "write `assert`"),
    (":kind: number", "\t:kind: number", 29, "option-syntax", "write it in the first column"),
    (":kind: number", "  :kind: number", 29, "option-syntax", "write it in the first column"),
    (":kind: number", "\n:kind: number", 30, "option-syntax", "right under the line that opens {question}"),
    (":value: 2", ":value: two", 32, "option-value", "write the right number"),
    (":value: 2", ":value: 2,5", 32, "option-value", "write the right number"),
    (":value: 2", ":value: inf", 32, "option-value", "write the right number"),
    (":tolerance: 0.5", ":tolerance: nan", 33, "option-value", "write a number that is 0 or more"),
    (":tolerance: 0.5", ":tolerance: -1", 33, "option-value", "write a number that is 0 or more"),
    (":tolerance: 0.5", ":tolerance: 0.5\n:tolerance: 0.5", 34, "duplicate-option", "the other is on line 33"),
    ("How many?\n", "", 28, "missing-part", "write it before its answers"),
    ("- [ ] 3", "- [x] 3", 36, "answer-key", "list wrong answers only"),
    ("- [ ] 3", "- [ ] three", 36, "answer-key", "write one number after the box"),
    ("- [ ] 3", "- [ ] 2.4", 36, "answer-key", "make the tolerance smaller"),
    ("  > Too many.", "> Too many.", 36, "missing-feedback", "add a line `  > why"),
    ("- [ ] Three", "- [x] Three", 43, "answer-key", "keep one `[x]`"),
    ("- [ ] Three\n  > No.\n", "", 43, "answer-key", "add `- [ ]` items"),
    ("  > No.", "  >", 51, "missing-feedback", "add a line `  > why"),
    (":::{question} which", ":::{Question} which", 43, "unknown-directive", "did you mean 'question'?"),
    (":::{question} which", "::: {question} which", 43, "stray-fence", "write :::{question}"),
    (":::{question} which", ":::{question} Which One", 43, "argument", "lower-case letters"),
    (":::{question} which", ":::{question} prints", 43, "duplicate-id", "choose another"),
    ("Words", ":::{careful}\n:::{aside}\nIn.\n:::\n:::\n\nWords", 12, "nesting", "give {careful} 4 colons"),
    (":::{exercise} double", ":::{exercise} doubel", 55, "unknown-exercise", "did you mean 'double'?"),
]


def test_the_chapter_without_a_mistake_has_no_problem(tmp_path: Path) -> None:
    assert check(tmp_path, CHAPTER) == []


@pytest.mark.parametrize(
    ("old", "new", "line", "rule", "remedy"), MISTAKES, ids=[repr(mistake[1])[:40] for mistake in MISTAKES]
)
def test_a_mistake_is_reported_alone_at_its_line_with_its_remedy(
    tmp_path: Path, old: str, new: str, line: int, rule: str, remedy: str
) -> None:
    assert old in CHAPTER

    (found,) = check(tmp_path, CHAPTER.replace(old, new, 1))

    assert (found.path, found.line, found.rule) == ("chapters/sums/chapter.md", line, rule)
    assert remedy in found.remedy


@pytest.mark.parametrize(
    "text",
    [
        CHAPTER.replace("\n", "\r\n").encode(),
        CHAPTER.replace("\n", "\r").encode(),
        b"\xef\xbb\xbf" + CHAPTER.encode(),
        b"\xef\xbb\xbf" + CHAPTER.replace("\n", "\r\n").encode(),
        CHAPTER.replace(":kind: number", ":kind:\tnumber").encode(),
        CHAPTER.rstrip("\n").encode(),
    ],
    ids=["CRLF", "CR", "BOM", "BOM and CRLF", "a tab after the name", "no newline at the end"],
)
def test_what_another_editor_does_to_a_file_is_no_mistake(tmp_path: Path, text: bytes) -> None:
    assert check(tmp_path, text) == []


def test_a_file_that_is_not_utf_8_is_reported_where_it_stops_being_so(tmp_path: Path) -> None:
    (found,) = check(tmp_path, CHAPTER.replace("Words", "W\xf6rter").encode("latin-1"))

    assert (found.line, found.rule, found.remedy) == (11, "course-file", "save it as UTF-8")


@pytest.mark.parametrize("text", ["", "\n\n", "Just words.\n", "---\n---\nWords.\n", "---\n- a\n---\n"])
def test_a_file_without_front_matter_is_reported_at_its_first_line(tmp_path: Path, text: str) -> None:
    problems = check(tmp_path, text)

    assert (problems[0].line, problems[0].rule) == (1, "front-matter")


@pytest.mark.parametrize(
    "place",
    ["chapters/sums/figures/secret.svg", "chapters/elsewhere", "exercises/elsewhere", "chapters/sums/figures"],
)
def test_a_link_out_of_the_course_is_reported(tmp_path: Path, place: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.svg").write_text("<svg/>")
    root = tmp_path / "course"
    write_course(root, CHAPTER)
    path = root / place
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(outside / "secret.svg" if path.suffix else outside)

    problems = load_course(root)[1]

    assert (place, "outside-the-course") in [(found.path, found.rule) for found in problems]


def test_a_link_within_the_course_is_fine(tmp_path: Path) -> None:
    write_course(tmp_path, CHAPTER.replace("[link](chapter:more#deep)", "![One](figures/there.svg)"))
    for slug in ("sums", "more"):
        (tmp_path / "chapters" / slug / "figures").mkdir()
    (tmp_path / "chapters/more/figures/there.svg").write_text("<svg/>")
    (tmp_path / "chapters/sums/figures/there.svg").symlink_to("../../more/figures/there.svg")

    assert load_course(tmp_path)[1] == ()
