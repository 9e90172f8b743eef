"""A chapter's questions and predictions as items of statistics, and what they say in words. No I/O."""

from collections.abc import Iterable
from dataclasses import dataclass

from app.course.blocks import Option
from app.course.language.plain_text import words_of
from app.course.model import Chapter
from app.course.questions.kinds import Choice, Several
from app.learning.items import FirstAnswer, Interval, ItemStatistics, find_statistics
from app.storage.knowledge import FirstResponse

DONT_KNOW = "i-dont-know"
"""In place of an option, where somebody predicted nothing."""

WORDS_SHOWN = 90


@dataclass(frozen=True)
class Item:
    """`options` is empty where an answer is typed, ordered or clicked."""

    id: str
    kind: str
    words: str
    options: tuple[Option, ...]
    content_hash: str


def list_items(chapter: Chapter) -> dict[str, Item]:
    """The predictions and then the questions of a chapter, by id, in the order of the page."""
    predicts = [
        Item(one.id, "prediction", shorten(one.prompt), one.options, one.content_hash)
        for one in chapter.index.predicts.values()
    ]
    questions = [
        Item(
            one.id,
            one.kind,
            shorten(one.prompt),
            one.options if isinstance(one, Choice | Several) else (),
            one.content_hash,
        )
        for one in chapter.index.questions.values()
    ]
    return {one.id: one for one in (*predicts, *questions)}


def shorten(html: str) -> str:
    words = words_of(html)
    return words if len(words) <= WORDS_SHOWN else f"{words[:WORDS_SHOWN].rsplit(' ', 1)[0]} …"


def mark_responses(items: dict[str, Item], responses: Iterable[FirstResponse]) -> list[FirstAnswer]:
    """Each first answer as right or wrong; a prediction by its present key. What nobody has judged is left out.

    "I don't know" is a wrong first answer. The options of a question with several are kept as one text.
    """
    marked = []
    for one in responses:
        item = items.get(one.item)
        if item is None:
            continue
        option = " + ".join(sorted(one.options)) or DONT_KNOW
        right = one.right
        if item.kind == "prediction":
            right = any(choice.right and choice.id == option for choice in item.options)
        if right is not None:
            marked.append(FirstAnswer(one.learner, one.item, bool(right), option))
    return marked


def measure_items(chapter: Chapter, responses: Iterable[FirstResponse]) -> dict[str, ItemStatistics]:
    """The statistics of each item of the chapter, in the order of the page."""
    items = list_items(chapter)
    single = {one.id: one.options if one.kind in ("prediction", "choice") else () for one in items.values()}
    options = {name: tuple(option.id for option in found) for name, found in single.items()}
    keys = {name: {option.id for option in found if option.right} for name, found in single.items()}
    return find_statistics(mark_responses(items, responses), options, keys)


def say_percent(share: float) -> str:
    return f"{round(100 * share)} %"


def say_share(found: Interval | None) -> str:
    """ "71 % (62 to 79 %)", or that there are too few."""
    if found is None:
        return "too few to say"
    return f"{say_percent(found.value)} ({round(100 * found.low)} to {say_percent(found.high)})"


def say_discrimination(found: ItemStatistics) -> str:
    """ "0.41 (0.25 to 0.55)", or that there are too few."""
    r = found.discrimination
    return "too few to say" if r is None else f"{r.value:.2f} ({r.low:.2f} to {r.high:.2f})"


def say_flag(found: ItemStatistics) -> str:
    """What is worth a look, in words; often empty."""
    if found.perhaps_wrong_key:
        return (
            "Those who know the rest do not do better here: perhaps a wrong key, or everybody guesses. Read it again."
        )
    if found.idle:
        return f"{len(found.idle)} of its wrong answers {'is' if len(found.idle) == 1 else 'are'} hardly ever chosen."
    return ""
