"""Fences are paired before Markdown is parsed, so that nothing is swallowed in silence."""

from hypothesis import given
from hypothesis import strategies as st

from app.course.language.directive_scan import Fence, find_fences
from app.course.problems import Report


def scan(text: str) -> tuple[list[tuple[str, int, int]], list[tuple[int, str]]]:
    report = Report("chapter.md")
    fences = find_fences(text.split("\n"), report)
    extents = [(fence.name, fence.line, fence.end) for fence in sorted(fences.values(), key=lambda found: found.open)]
    return extents, [(found.line, found.rule.value) for found in report.problems]


def test_a_fence_ends_at_its_closing_line() -> None:
    assert scan(":::{careful}\ntext\n:::\nmore") == ([("careful", 1, 3)], [])


def test_a_longer_fence_holds_a_shorter_one() -> None:
    text = "::::{careful}\n:::{aside}\nx\n:::\n::::"

    assert scan(text) == ([("careful", 1, 5), ("aside", 2, 4)], [])


def test_colons_inside_code_are_code() -> None:
    assert scan("```text\n:::{careful}\n```") == ([], [])


def test_an_unclosed_fence_ends_before_the_next_heading() -> None:
    text = ":::{careful}\nnever closed\n\n## Next\n\n:::{aside}\nfine\n:::"

    assert scan(text) == ([("careful", 1, 3), ("aside", 6, 8)], [(1, "unclosed-fence")])


def test_an_unclosed_fence_ends_before_the_next_one_of_its_length() -> None:
    text = ":::{predict} a\nnever closed\n:::{question} b\nfine\n:::"

    assert scan(text) == ([("predict", 1, 2), ("question", 3, 5)], [(1, "unclosed-fence")])


def test_an_inner_fence_that_is_left_open_ends_with_the_outer_one() -> None:
    text = "::::{careful}\n:::{aside}\nx\n::::\nafter"

    assert scan(text) == ([("careful", 1, 4), ("aside", 2, 3)], [(2, "unclosed-fence")])


def test_unclosed_code_does_not_swallow_the_next_directive() -> None:
    text = "```{cell} a\nx = 1\n\n```{cell} b\ny = 1\n```"

    assert scan(text) == ([("cell", 1, 3), ("cell", 4, 6)], [(1, "unclosed-fence")])


def test_unclosed_code_inside_a_box_ends_with_the_box() -> None:
    text = ":::{break-it}\n```{cell} a\nx = 1\n:::\nafter"

    assert scan(text) == ([("break-it", 1, 4), ("cell", 2, 3)], [(2, "unclosed-fence")])


def test_options_end_at_the_first_line_that_is_none() -> None:
    report = Report("chapter.md")
    (fence,) = find_fences(
        ["```{cell} a", ":graph:", ":caption: A: b", "x = {1: 2}", ":no: option", "```"], report
    ).values()

    assert [(option.name, option.value, option.line) for option in fence.options] == [
        ("graph", "", 2),
        ("caption", "A: b", 3),
    ]


LINES = st.sampled_from(
    [":::{careful}", "::::{aside}", ":::", "::::", "```{cell} a", "```python", "```", "text", "## H", ""]
)


@given(st.lists(LINES, max_size=14))
def test_fences_never_cross_whatever_is_written(lines: list[str]) -> None:
    fences = list(find_fences(list(lines), Report("chapter.md")).values())

    for fence in fences:
        assert fence.open < fence.body <= fence.close <= fence.end <= len(lines)
        assert not any(cross(fence, other) for other in fences)


def cross(one: Fence, other: Fence) -> bool:
    return one.open < other.open < one.end < other.end
