"""Text from the box: readable, harmless, short."""

from hypothesis import given
from hypothesis import strategies as st

from graders.trusted.text import TextStream, clean_text, read_text


def test_control_and_direction_changing_characters_go_and_letters_stay():
    assert clean_text("a\x00b\x1b[31m\u202ec\td\ne \u00e9 \U0001f600") == "ab[31mc\td\ne \u00e9 \U0001f600"


def test_unpaired_surrogates_go_so_that_the_text_can_be_stored():
    clean_text("a\ud800b").encode()


def test_long_text_is_cut_and_says_so():
    assert clean_text("x" * 10, 4) == "xxxx …"


@given(st.text())
def test_any_text_can_be_stored_and_cleaning_twice_changes_nothing(text):
    once = clean_text(text)
    once.encode()
    assert clean_text(once) == once


@given(st.binary(), st.integers(0, 50))
def test_a_stream_in_two_pieces_reads_as_in_one(raw, cut):
    stream = TextStream()
    whole = stream.read(raw[:cut]) + stream.read(raw[cut:])
    assert read_text(raw).startswith(whole) or whole == read_text(raw)


def test_bytes_that_are_no_utf8_are_replaced():
    assert read_text(b"a\xff\xfeb") == "a��b"
