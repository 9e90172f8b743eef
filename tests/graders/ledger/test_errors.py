"""A refusal is whole sentences, so that whoever shows it need not know where it came from."""

import re

import pytest

from graders.ledger import QueueFull, StorageRefused, TooManyPending


@pytest.mark.parametrize("refusal", [TooManyPending(8, 8), QueueFull(40, 12), StorageRefused("disk I/O error")])
def test_a_refusal_is_whole_sentences_that_a_learner_may_read(refusal: Exception) -> None:
    assert re.fullmatch(r"([A-Z0-9][^.]*[^.\s]\.( |$))+", str(refusal))
    assert "disk" not in str(refusal)
