"""Mistakes to plant one at a time in a small course, each with the one place and rule that it has to be told at.

A row: the file, what is replaced, by what; then the path (empty: that file), the line and the rule.
"""

CHAPTER = "chapters/sums/chapter.md"
TOML = "course.toml"
MANIFEST = "exercises/double/exercise.toml"
FIGURES = "chapters/sums/figures"
LINK = "[link](chapter:more#deep)"
NUMBER = ":kind: number\n:role: factual\n:concepts: accumulation\n:value: 2\n:tolerance: 0.5\n"
TABLE = "| a | b |\n| --- | --- |\n"

TWO_MODULES = """chapters = [{{ slug = "sums" }}]

[[modules]]
id = "{id}"
number = {number}
title = "T"
summary = "T"
chapters = [{{ slug = "more" }}]"""

Row = tuple[str, str, str, str, int, str]

VANISHES_OR_SHOWS_RAW: list[Row] = [
    (CHAPTER, "Words", f"{TABLE}| 1 | 2 | 3 |\n\nWords", "", 13, "table-cells"),
    (CHAPTER, "Words", f"{TABLE}| 1 | 2 |\n| 1 | `a|b` |\n\nWords", "", 14, "table-cells"),
    (CHAPTER, "Words", ":::{careful}\n| a |\n| --- |\n| 1 | 2 |\n:::\n\nWords", "", 14, "table-cells"),
    (CHAPTER, "Words", "a | b\n--- | ---\n1 | 2 | 3\n\nWords", "", 13, "table-cells"),
    (CHAPTER, "Words", "[^lost]: Nobody reads this.\n\nWords", "", 11, "footnote"),
    (CHAPTER, "Words", "Words[^one]\n\n[^one]: Read.\n\n[^two]: Not read.\n\nWords", "", 15, "footnote"),
    (CHAPTER, "Words", r"\begin{align}" + "\nx &= 2\n" + r"\end{align}" + "\n\nWords", "", 11, "math"),
    (CHAPTER, "Words", r"Text, then \begin{equation*} x \end{equation*}", "", 11, "math"),
    (CHAPTER, "Words", r"\(x^2\) words", "", 11, "math"),
    (CHAPTER, "Words", "Two lines\nand \\(y\\) words", "", 12, "math"),
    (CHAPTER, "Words", "\\[\nx^2\n\\]\n\nWords", "", 11, "math"),
    (CHAPTER, LINK, "[a] (term:b)", "", 11, "dead-link"),
    (CHAPTER, LINK, "[a] (chapter:more)", "", 11, "dead-link"),
    (CHAPTER, LINK, "[a] (https://example.org)", "", 11, "dead-link"),
    (CHAPTER, LINK, "[a]\t(#one)", "", 11, "dead-link"),
    (
        CHAPTER,
        "Words",
        "<<<<<<< mine\nWords\n=======\nOther words\n>>>>>>> theirs\n\nWords",
        "",
        11,
        "merge-conflict",
    ),
    (CHAPTER, "title: Sums", "<<<<<<< HEAD\ntitle: Sums\n>>>>>>> other", "", 2, "merge-conflict"),
    (CHAPTER, LINK, "![A picture](figures/my picture.png)", "", 11, "dead-link"),
    (CHAPTER, "Words", "Words <b>bold</b>", "", 11, "raw-html"),
    (CHAPTER, "Words", "Words $x", "", 11, "math"),
    (CHAPTER, "Words", "Words[^nowhere]", "", 11, "footnote"),
    (CHAPTER, "Words", "[words][nowhere]", "", 11, "dead-link"),
    (CHAPTER, "Words", "| a |  |\n| --- | --- |\n| 1 | 2 |\n\nWords", "", 11, "table-heading"),
    ("exercises/double/prompt.md", "", "<<<<<<< a\n", "", 1, "merge-conflict"),
    ("exercises/double/prompt.md", "", "\\(x\\)\n\n", "", 1, "math"),
    ("exercises/double/hints.md", "", "[^x]: Lost.\n\n", "", 1, "footnote"),
]

CANNOT_BE_ANSWERED: list[Row] = [
    (CHAPTER, ":value: 2\n:tolerance: 0.5", ":value: 2.3026\n:tolerance: 0", "", 33, "answer-key"),
    (CHAPTER, ":value: 2\n:tolerance: 0.5", ":value: 2.3026", "", 28, "answer-key"),
    (CHAPTER, ":value: 2\n:tolerance: 0.5", ":value: 2.3026\n:tolerance: 0.00001", "", 33, "answer-key"),
    (CHAPTER, ":value: 2\n:tolerance: 0.5", ":value: -0.6931\n:tolerance: 0", "", 33, "answer-key"),
    (CHAPTER, ":value: 2\n:tolerance: 0.5", ":value: 12.34\n:tolerance: 0", "", 33, "answer-key"),
    (
        CHAPTER,
        NUMBER,
        ":kind: text\n:accept: grad.*\n:role: factual\n:concepts: accumulation\n",
        "",
        30,
        "option-value",
    ),
    (
        CHAPTER,
        NUMBER,
        ":kind: text\n:accept: ^leaf$\n:role: factual\n:concepts: accumulation\n",
        "",
        30,
        "option-value",
    ),
    (
        CHAPTER,
        NUMBER,
        ":kind: text\n:accept: \\d+ nodes\n:role: factual\n:concepts: accumulation\n",
        "",
        30,
        "option-value",
    ),
    (
        CHAPTER,
        NUMBER,
        ":kind: text\n:accept: [0-9]\n:role: factual\n:concepts: accumulation\n",
        "",
        30,
        "option-value",
    ),
    (
        CHAPTER,
        NUMBER,
        ":kind: text\n:accept: leafs?\n:role: factual\n:concepts: accumulation\n",
        "",
        30,
        "option-value",
    ),
    (
        CHAPTER,
        NUMBER,
        ":kind: text\n:accept: (?i)leaf\n:role: factual\n:concepts: accumulation\n",
        "",
        30,
        "option-value",
    ),
    (
        CHAPTER,
        NUMBER,
        ":kind: text\n:accept: leaf|node\n:role: factual\n:concepts: accumulation\n",
        "",
        30,
        "option-value",
    ),
    (
        CHAPTER,
        NUMBER,
        ":kind: text\n:accept: leaf |node\n:role: factual\n:concepts: accumulation\n",
        "",
        30,
        "option-value",
    ),
    (CHAPTER, NUMBER, ":kind: text\n:accept:\n:role: factual\n:concepts: accumulation\n", "", 30, "option-value"),
]

HOLDS_NO_MORE: list[Row] = [
    (CHAPTER, "### Two", "### Two\n\n### Two", "", 22, "duplicate-id"),
    (CHAPTER, "### Two", "### One", "", 20, "duplicate-id"),
    (
        TOML,
        'chapters = [{ slug = "sums" }, { slug = "more" }]',
        TWO_MODULES.format(id="two", number=1),
        "",
        16,
        "course-file",
    ),
    (
        TOML,
        'chapters = [{ slug = "sums" }, { slug = "more" }]',
        TWO_MODULES.format(id="one", number=2),
        "",
        16,
        "course-file",
    ),
]

COURSE_FILE: list[Row] = [
    (TOML, "format = 1", "format = 2", "", 1, "course-file"),
    (TOML, "format = 1", "", "", 1, "course-file"),
    (TOML, "format = 1", "format = 1\nformat = 1", "", 2, "course-file"),
    (TOML, 'title = "Strange"', "title = 3", "", 2, "course-file"),
    (TOML, 'title = "Strange"', 'titel = "Strange"', "", 2, "course-file"),
    (TOML, 'title = "Strange"', 'title = "Strange', "", 2, "course-file"),
    (TOML, "number = 1", "number = -1", "", 11, "course-file"),
    (TOML, "number = 1", 'number = "one"', "", 11, "course-file"),
    (TOML, 'id = "one"', 'id = "One Two"', "", 10, "course-file"),
    (TOML, 'slug = "sums"', 'slug = "smus"', "", 14, "course-file"),
    (TOML, '{ slug = "sums" }, ', "", "chapters/sums/chapter.md", 1, "course-file"),
    (TOML, '{ slug = "more" }', '{ slug = "more" }, { slug = "sums" }', "", 14, "course-file"),
    (TOML, '{ slug = "more" }', '{ slug = "more" }, { slug = "new" }', "", 14, "course-file"),
    (TOML, '{ slug = "more" }', '{ slug = "more", titel = "M" }', "", 14, "course-file"),
    (TOML, 'accumulation = "Adding up"', '"Adding Up" = "Adding up"', "", 7, "course-file"),
]

EXERCISE_FILE: list[Row] = [
    (MANIFEST, "format = 1", "format = 7", "", 1, "exercise-file"),
    (MANIFEST, 'title = "Double a number"', "", "", 1, "exercise-file"),
    (MANIFEST, 'difficulty = "first steps"', 'difficulty = "easy"', "", 5, "exercise-file"),
    (MANIFEST, "minutes = 2", "minutes = 0", "", 6, "exercise-file"),
    (MANIFEST, "minutes = 2", "minutes = 999", "", 6, "exercise-file"),
    (MANIFEST, "minutes = 2", 'minutes = "two"', "", 6, "exercise-file"),
    (MANIFEST, "minutes = 2", "minutes = 2.5", "", 6, "exercise-file"),
    (MANIFEST, '["accumulation"]', '["acumulation"]', "", 7, "unknown-concept"),
    (MANIFEST, 'flavour = "plain"', 'flavour = "numpy"', "", 8, "exercise-file"),
    (MANIFEST, "cpu_seconds = 2.0", "cpu_seconds = 0", "", 11, "exercise-file"),
    (MANIFEST, "cpu_seconds = 2.0", "cpu_seconds = 600", "", 11, "exercise-file"),
    (MANIFEST, "cpu_seconds = 2.0", "cpu_secs = 2.0", "", 11, "exercise-file"),
    (MANIFEST, "memory_mib = 256", "memory_mib = 16", "", 13, "exercise-file"),
    (MANIFEST, "memory_mib = 256", "memory_mib = 1e9", "", 13, "exercise-file"),
    (MANIFEST, "absolute = 1e-12", "absolute = -1", "", 16, "exercise-file"),
    (MANIFEST, "absolute = 1e-12", 'absolute = "small"', "", 16, "exercise-file"),
    (MANIFEST, "public = 1", "public = 0", "", 20, "exercise-file"),
    (MANIFEST, "hidden = 1", "hidden = 65", "", 21, "exercise-file"),
    (MANIFEST, "[findings.not-doubled]", "[findings.Not_Doubled]", "", 23, "exercise-file"),
    (MANIFEST, 'short = "The result', 'shrot = "The result', "", 24, "exercise-file"),
    (MANIFEST, 'file = "unchanged.py"', 'file = "unchagned.py"', "", 28, "missing-file"),
    (MANIFEST, 'outcome = "time_limit"', 'outcome = "timeout"', "", 35, "exercise-file"),
    (MANIFEST, "cheat = true", 'cheat = "yes, one"', "", 41, "exercise-file"),
    (MANIFEST, 'why = "Never returns."', "", "", 33, "exercise-file"),
    (MANIFEST, "format = 1", "<<<<<<< a\nformat = 1", "", 1, "exercise-file"),
    (MANIFEST, 'long = "Add the number', 'long = "$x + x$: add the number', "", 23, "math"),
    ("exercises/double/solution.py", "return", "retrun", "", 2, "python-syntax"),
    ("exercises/double/cases.py", "return [", "return [[", "", 7, "python-syntax"),
    ("exercises/double/probe.py", "def probe", "dfe probe", "", 1, "python-syntax"),
    ("exercises/double/starter.py", "raise", "  raise", "", 3, "python-syntax"),
]

BLOCKS: list[Row] = [
    (CHAPTER, "```{cell} prints", "```cell", "", 13, "unknown-directive"),
    (CHAPTER, "```{cell} prints", "```{cel} prints", "", 13, "unknown-directive"),
    (CHAPTER, "```{cell} prints", "```{cell}", "", 13, "argument"),
    (CHAPTER, "```{cell} prints", "```{cell} Prints_It", "", 13, "argument"),
    (CHAPTER, ":flavour: plain", ":flavor: plain", "", 14, "unknown-option"),
    (CHAPTER, ":flavour: plain", ":raises: not an error", "", 14, "option-value"),
    (CHAPTER, ":flavour: plain", ":setup: nowhere", "", 14, "unknown-id"),
    (CHAPTER, ":flavour: plain", ":depends-on: nowhere", "", 14, "unknown-id"),
    (CHAPTER, ":flavour: plain", ":depends-on: prints", "", 14, "unknown-id"),
    (CHAPTER, ":flavour: plain", ":needs: tpu", "", 14, "option-value"),
    (CHAPTER, "```{claim} adds", "```{setup} unused\nx = 1\n```\n\n```{claim} adds", "", 22, "unknown-id"),
    (CHAPTER, "```{claim} adds", "```{claim} adds\n:setup: x", "", 23, "unknown-option"),
    (CHAPTER, "```{claim} adds", "```{claim} prints", "", 22, "duplicate-id"),
    (CHAPTER, "assert 1 + 1 == 2", "assert 1 + 1 = 2", "", 25, "python-syntax"),
    (CHAPTER, ":role: factual", ":role: facts", "", 30, "option-value"),
    (CHAPTER, ":role: factual\n", "", "", 28, "missing-option"),
    (CHAPTER, ":concepts: accumulation\n", ":concepts: nothing\n", "", 31, "unknown-concept"),
    (CHAPTER, ":kind: number", ":kind: nubmer", "", 29, "option-value"),
    (CHAPTER, "+++\nTwo.\n", "", "", 28, "missing-part"),
    (CHAPTER, "Do it.\n:::", "Do it.", "", 55, "unclosed-fence"),
    (CHAPTER, ":::{exercise} double", ":::{exercise}", "", 55, "argument"),
    (CHAPTER, "Words", ":::{drill} nowhere\n:::\n\nWords", "", 11, "drill"),
    (CHAPTER, "Words", ":::{drill}\n:::\n\nWords", "", 11, "argument"),
    (CHAPTER, "Words", ":::{fold}\nIn.\n:::\n\nWords", "", 11, "missing-part"),
    (CHAPTER, "Words", ":::{interview} boss\nWhy?\n\n+++\nSo.\n:::\n\nWords", "", 11, "argument"),
    (CHAPTER, "Words", ":::{core-idea}\n:::\n\nWords", "", 11, "missing-part"),
    (CHAPTER, "Words", "+++\n\nWords", "", 11, "stray-split"),
    (CHAPTER, "Words", ":::{figure} pic\n:file: no.svg\n:alt: A\nA.\n:::\n\nWords", "", 12, "missing-file"),
    (CHAPTER, "Words", ":::{figure} pic\n:file: my pic.svg\n:alt: A\nA.\n:::\n\nWords", "", 12, "option-value"),
    (
        CHAPTER,
        "Words",
        ":::{predict} p\n:resolved-by: nowhere\nWhat?\n\n- [x] A\n  > Y.\n- [ ] B\n  > N.\n\n+++\nA.\n:::\n\nWords",
        "",
        12,
        "unknown-id",
    ),
    (CHAPTER, "minutes: 5", "minutes: 100", "", 4, "reading-time"),
    (CHAPTER, "minutes: 5", "minutes: 500", "", 4, "front-matter"),
    (CHAPTER, "minutes: 5", "minutes: 0", "", 4, "front-matter"),
    (CHAPTER, "minutes: 5", "minutes: 5\ndraft: maybe", "", 5, "front-matter"),
    (CHAPTER, "title: Sums", "title:", "", 2, "front-matter"),
]

PICTURES: list[tuple[str, bytes, int]] = [
    ("page.png", b"<!doctype html>\n<html><body>Not found</body></html>", 1),
    ("short.png", b"\x89PNG\r\n\x1a\n" + bytes(90), 1),
    ("text.jpg", b"no picture", 1),
    ("short.jpg", b"\xff\xd8\xff" + bytes(90), 1),
    ("text.webp", b"no picture", 1),
    ("text.gif", b"no picture", 1),
    ("cut.svg", b'<svg xmlns="http://www.w3.org/2000/svg">\n<circle r="1"', 2),
    ("open.svg", b'<svg xmlns="http://www.w3.org/2000/svg">\n<g>\n</svg>', 3),
    ("page.svg", b"<html><body/></html>", 1),
    ("empty.svg", b"", 1),
    ("notes.bmp", b"BM", 1),
]

ADVICE: list[Row] = [
    (CHAPTER, "Words", "Words words", "", 11, "doubled-word"),
    (CHAPTER, "Words", "The the words", "", 11, "doubled-word"),
    (CHAPTER, "Words", "TODO: words", "", 11, "undone"),
    (CHAPTER, "print(2)", "print(2)  # FIXME", "", 15, "undone"),
    (CHAPTER, ":::{exercise} double\nDo it.\n:::\n", "", MANIFEST, 1, "offered"),
    (CHAPTER, "Do it.\n:::", "Do it.\n:::\n\n:::{exercise} double\nAgain.\n:::", "", 59, "offered"),
    (MANIFEST, "cheat = true\n", "", "", 27, "no-cheat"),
    (
        MANIFEST,
        "[findings.not-doubled]",
        '[findings.spare]\nshort = "Never."\n\n[findings.not-doubled]',
        "",
        23,
        "unused-finding",
    ),
    ("exercises/double/cases.py", "rng.randint(2, 9)", "random.randint(2, 9)", "", 5, "unseeded"),
    ("exercises/double/cases.py", "rng.uniform(1.0, 100.0)", "np.random.uniform(1.0, 100.0)", "", 6, "unseeded"),
    ("exercises/double/prompt.md", "", "TODO say more\n\n", "", 1, "undone"),
]
