"""An author's sentence on a page: code and stress are marked, and all else is escaped."""

import pytest

from app.web.edge.rendering import TEMPLATES, mark_words, open_templates
from app.web.views.blocks import ProseView


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("`a * b` takes the *other* operand", "<code>a * b</code> takes the <em>other</em> operand"),
        ("*any* of its steps feels *any* gradient", "<em>any</em> of its steps feels <em>any</em> gradient"),
        ("the *very last* axis", "the <em>very last</em> axis"),
        ("2 * 3 * 4 is a product", "2 * 3 * 4 is a product"),
        ("x ** 3 and `t**2`", "x ** 3 and <code>t**2</code>"),
        ("a lone ` stays, *so* to say", "a lone ` stays, <em>so</em> to say"),
        ("*<b>* and `<i>`", "*&lt;b&gt;* and <code>&lt;i&gt;</code>"),
    ],
)
def test_code_and_stress_are_marked_and_all_else_is_escaped(written: str, shown: str) -> None:
    assert mark_words(written) == shown


def test_a_block_that_was_seen_is_not_rendered_again_and_another_is() -> None:
    rendered = open_templates(TEMPLATES, False).filters["rendered"]
    prose = ProseView("<p>The tape unwinds.</p>")

    assert rendered(prose) is rendered(ProseView("<p>The tape unwinds.</p>"))
    assert "The tape unwinds." in rendered(prose)
    assert "holds" in rendered(ProseView("<p>The tape holds.</p>"))
