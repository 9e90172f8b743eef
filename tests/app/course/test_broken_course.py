"""A course with one of every mistake: all are reported in one pass, at their lines, with rule and remedy."""

from pathlib import Path

from app.course.loader import load_course

ROOT = Path(__file__).parents[2] / "broken_course"

CHAPTER = "chapters/full-of-mistakes/chapter.md"

PLANTED = [
    (CHAPTER, 4, "reading-time", "write about 20"),
    (CHAPTER, 7, "unknown-concept", "did you mean 'recording'?"),
    (CHAPTER, 8, "unknown-chapter", "did you mean 'never-written'?"),
    (
        CHAPTER,
        9,
        "front-matter",
        "write one of concepts, draft, headlines, minutes, objectives, prerequisites, subtitle, title",
    ),
    (CHAPTER, 13, "unknown-id", "this chapter has no-code, bad-code"),
    (CHAPTER, 16, "heading", "write ## here"),
    (CHAPTER, 18, "heading", "write ###"),
    (CHAPTER, 20, "math", "did you mean '\\frac'?"),
    (CHAPTER, 21, "math", "fix the formula; KaTeX's list of supported functions names what it knows"),
    (CHAPTER, 25, "math", "fix the formula; KaTeX's list of supported functions names what it knows"),
    (CHAPTER, 28, "dead-link", "did you mean 'no-such-line'?"),
    (CHAPTER, 28, "dead-link", "did you mean 'full-of-mistakes'?"),
    (CHAPTER, 28, "dead-link", "write its title as text"),
    (CHAPTER, 29, "dead-link", "did you mean 'exercise:half'?"),
    (CHAPTER, 29, "dead-link", "write #anchor, chapter:SLUG, chapter:SLUG#anchor, exercise:NAME or https://..."),
    (CHAPTER, 31, "image-alt", "write what it shows: ![what it shows](figures/there.svg)"),
    (CHAPTER, 33, "missing-file", "did you mean 'figures/there.svg'?"),
    (CHAPTER, 35, "missing-file", "put the file there and write figures/NAME; pages load nothing from another host"),
    (
        CHAPTER,
        37,
        "math",
        "put $$ on lines of their own around the formula, without blank lines inside, or write $...$",
    ),
    (CHAPTER, 40, "dead-link", "write [text](address), or a line `[nowhere]: address`"),
    (CHAPTER, 42, "footnote", "write a line `[^lost]: text` in this file"),
    (CHAPTER, 42, "raw-html", "use a directive or Markdown; put code in backticks"),
    (CHAPTER, 45, "python-syntax", "fix it, or mark the fence ```text if it is not meant to parse"),
    (CHAPTER, 49, "unknown-directive", "did you mean 'python'?"),
    (CHAPTER, 53, "stray-fence", "write :::{careful}"),
    (CHAPTER, 57, "unknown-directive", "did you mean 'careful'?"),
    (CHAPTER, 63, "misplaced", "start the directive in the first column"),
    (CHAPTER, 67, "unknown-id", "did you mean 'cell'?"),
    (CHAPTER, 70, "missing-feedback", "add a line `  > why it is right or wrong` under it"),
    (CHAPTER, 78, "answer-key", "keep one `[x]`, or write `:kind: several`"),
    (CHAPTER, 78, "argument", "write lower-case letters, digits and single hyphens after the name"),
    (CHAPTER, 78, "missing-option", "write the id of the cell whose run shows the truth"),
    (CHAPTER, 79, "unknown-option", "did you mean 'resolved-by'?"),
    (
        CHAPTER,
        91,
        "missing-option",
        "write one of choice, several, number, text, order, graph-click, wrong-line, open",
    ),
    (CHAPTER, 98, "option-value", "did you mean 'choice'?"),
    (CHAPTER, 100, "duplicate-option", "keep one of them; the other is on line 99"),
    (CHAPTER, 108, "unknown-concept", "did you mean 'recording'?"),
    (CHAPTER, 109, "option-value", "write the right number, e.g. `:value: 3`"),
    (CHAPTER, 110, "option-value", "write a number that is 0 or more"),
    (CHAPTER, 111, "unknown-option", "write one of concepts, kind, role, tolerance, unit, value"),
    (CHAPTER, 121, "missing-part", "write `+++` and then the model answer"),
    (CHAPTER, 128, "answer-key", "list wrong answers only, each with `- [ ]`"),
    (CHAPTER, 132, "answer-key", "write `- [x]` before the right one"),
    (CHAPTER, 140, "answer-key", "remove one"),
    (CHAPTER, 142, "answer-key", "write `- [ ]` before a wrong answer and `- [x]` before the right one"),
    (CHAPTER, 146, "missing-feedback", "add `- [ ] *` with a quotation under it"),
    (CHAPTER, 150, "unknown-id", "this chapter has cell, never-closed, no-alt"),
    (CHAPTER, 165, "unknown-id", "add `:graph:` to the cell on line 217, or name a {graph}"),
    (CHAPTER, 180, "answer-key", "write a line from 1 to 1"),
    (CHAPTER, 191, "missing-part", "list what a good answer says after `+++`: `- [rubric] point`"),
    (CHAPTER, 201, "missing-part", "write one ```python block in its body"),
    (CHAPTER, 212, "unknown-option", "did you mean 'flavour'?"),
    (CHAPTER, 213, "option-syntax", "write `:name: value`"),
    (CHAPTER, 217, "duplicate-id", "choose another; ids are unique within a chapter"),
    (CHAPTER, 218, "unknown-id", "write one of never-used"),
    (CHAPTER, 220, "python-syntax", "fix the line"),
    (CHAPTER, 226, "unknown-id", "write `:setup: never-used` in a cell, or remove the fence"),
    (CHAPTER, 230, "missing-option", "say in words what the picture shows"),
    (CHAPTER, 234, "missing-part", "write the sentence, `---`, then the code"),
    (CHAPTER, 239, "option-value", "write `gpu`, `compiler` or `ranks`, or leave the option out"),
    (CHAPTER, 242, "python-syntax", "fix the line"),
    (CHAPTER, 245, "wrong-fence", "write ```{cell} and close it with ```"),
    (CHAPTER, 249, "unknown-exercise", "write one of half"),
    (CHAPTER, 253, "argument", "write one of junior, mid, senior, staff"),
    (CHAPTER, 260, "missing-part", "write `+++` and then the answer"),
    (CHAPTER, 264, "argument", "remove it, or write it in the body"),
    (CHAPTER, 270, "stray-split", "it belongs in predict, question, interview and faq"),
    (CHAPTER, 274, "missing-part", "write its text"),
    (CHAPTER, 278, "nesting", "close {diagnosis} (line 277) before it, or give {diagnosis} 4 colons"),
    (CHAPTER, 287, "misplaced", "move it before or after the directive that contains it"),
    (CHAPTER, 300, "stray-split", "it belongs in predict, question, interview and faq"),
    (CHAPTER, 302, "stray-fence", "remove it, or open a directive with the same number of colons before it"),
    (CHAPTER, 304, "unclosed-fence", "add the line ::: where it ends"),
    (CHAPTER, 307, "unclosed-fence", "add the line ``` where it ends"),
    ("chapters/not-named/chapter.md", 1, "course-file", 'add { slug = "not-named" } to a module of course.toml'),
    ("course.toml", 17, "course-file", "write `title = ...`, or chapters/without-a-title/chapter.md"),
    ("exercises/half/cases.py", 1, "missing-file", "write it; docs/writing-an-exercise.md says what belongs in it"),
    ("exercises/half/exercise.toml", 5, "exercise-file", "write 'first steps', 'steady' or 'deep'"),
    ("exercises/half/hints.md", 1, "missing-file", "write it; docs/writing-an-exercise.md says what belongs in it"),
    ("exercises/half/probe.py", 1, "missing-file", "write it; docs/writing-an-exercise.md says what belongs in it"),
    ("exercises/half/prompt.md", 3, "table-heading", "name each column in the table's first line"),
    (
        "exercises/half/solution.py",
        1,
        "missing-file",
        "write it; docs/writing-an-exercise.md says what belongs in it",
    ),
    ("exercises/half/starter.py", 1, "python-syntax", "fix the line"),
]


def test_every_planted_mistake_is_reported_once_at_its_line_with_its_remedy() -> None:
    _, problems = load_course(ROOT)

    assert [(found.path, found.line, found.rule, found.remedy) for found in problems] == PLANTED


def test_the_planted_mistakes_are_of_many_kinds() -> None:
    _, problems = load_course(ROOT)

    assert len({found.rule for found in problems}) >= 25
