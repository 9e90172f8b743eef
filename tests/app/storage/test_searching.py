"""A query finds passages by their words, best first, and can contain no operator."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.course.passages import Kind, Passage
from app.storage.searching import MAX_WORDS, PassageIndex, Piece, words_in

PASSAGES = (
    Passage(
        Kind.SECTION, "/chapters/one#counter", "The version counter", "Every in-place write raises it.", "1.1", "One"
    ),
    Passage(Kind.SECTION, "/chapters/one#leaves", "Leaves", "The version of a leaf, and zero_grad.", "1.1", "One"),
    Passage(
        Kind.CLAIM, "/chapters/one#claim", "A version counter counts each version of a counter.", "", "1.1", "One"
    ),
    Passage(Kind.TERM, "/glossary#vjp", "VJP", "A vector-Jacobian product."),
)


@pytest.fixture(scope="module")
def index() -> PassageIndex:
    return PassageIndex(PASSAGES)


def hrefs(index: PassageIndex, searched: str) -> list[str]:
    return [hit.passage.href for hit in index.find(searched, 10).hits]


def test_a_section_about_the_words_comes_before_a_claim_with_them(index: PassageIndex) -> None:
    assert hrefs(index, "version counter") == ["/chapters/one#counter", "/chapters/one#claim"]


def test_the_last_word_may_be_the_beginning_of_one(index: PassageIndex) -> None:
    assert hrefs(index, "vecto") == ["/glossary#vjp"]
    assert hrefs(index, "zero_") == ["/chapters/one#leaves"]


def test_words_are_found_in_another_form(index: PassageIndex) -> None:
    assert hrefs(index, "counters versions") == ["/chapters/one#counter", "/chapters/one#claim"]


def test_without_a_passage_that_has_all_words_those_with_some_are_found(index: PassageIndex) -> None:
    found = index.find("jacobian leaf", 10)

    assert not found.whole
    assert {hit.passage.href for hit in found.hits} == {"/glossary#vjp", "/chapters/one#leaves"}


def test_what_was_found_is_marked_in_heading_and_text(index: PassageIndex) -> None:
    (hit,) = index.find("in-place counter", 10).hits

    assert hit.heading == (Piece("The version ", False), Piece("counter", True))
    assert [piece.text for piece in hit.snippet if piece.found] == ["in", "place"]


@pytest.mark.parametrize("searched", ["", "  ", "*", '"', "-", "\x00", "()", "'"])
def test_a_query_without_a_word_finds_nothing(index: PassageIndex, searched: str) -> None:
    found = index.find(searched, 10)

    assert (found.hits, found.whole) == ((), True)


@pytest.mark.parametrize(
    "searched", ['counter" OR "vjp', "NEAR(counter vjp)", "heading : counter", "counter NOT vjp"]
)
def test_an_operator_is_a_word_like_any_other(index: PassageIndex, searched: str) -> None:
    assert not index.find(searched, 10).whole


@given(st.text(max_size=100))
def test_no_text_breaks_the_query(searched: str) -> None:
    try:
        PassageIndex(PASSAGES).find(searched, 10)
    except sqlite3.Error as error:
        raise AssertionError(f"{searched!r} is an error of the query") from error


def test_a_long_query_is_cut(index: PassageIndex) -> None:
    assert len(words_in("word " * 40)) == MAX_WORDS


def test_many_threads_may_ask_at_once(index: PassageIndex) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: hrefs(index, "vjp"), range(64)))

    assert found == [["/glossary#vjp"]] * 64


def test_an_index_that_nobody_has_any_more_is_closed() -> None:
    index = PassageIndex(PASSAGES)
    connection = index._connection
    del index

    with pytest.raises(sqlite3.ProgrammingError, match="closed database"):
        connection.execute("select 1")
