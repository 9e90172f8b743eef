"""The words of rendered HTML, as they are read."""

from app.course.language.plain_text import words_of
from app.course.language.typeset import Typesetter
from app.course.loader import KATEX


def test_words_of_neighbouring_blocks_do_not_run_together() -> None:
    assert words_of("<p>one</p><p>two <code>x &lt; 1</code></p><ul><li>a</li><li>b</li></ul>") == "one two x < 1 a b"


def test_a_tag_within_a_word_does_not_cut_it() -> None:
    assert words_of("zero<em>_grad</em>, once") == "zero_grad, once"


def test_a_formula_is_read_once_and_without_its_tex() -> None:
    typeset = Typesetter(KATEX.read_text(encoding="utf-8")).typeset(r"\frac{a}{b} + c", display=False)
    assert isinstance(typeset, str)

    assert words_of(f"so {typeset} holds") == "so ab+c holds"


def test_a_picture_within_a_formula_or_a_line_hides_nothing_after_it() -> None:
    assert words_of('<span class="katex-html"><img src="x"><span>hidden</span></span>one<br>two') == "one two"
