"""How prose is set."""

from app.course.language.markdown import make_parser


def test_quotes_and_apostrophes_are_set_as_in_print_and_code_is_left_alone() -> None:
    html = make_parser().render('"It\'s" a `"q"` of \'x\'')
    assert "“It’s” a <code>&quot;q&quot;</code> of ‘x’" in html
