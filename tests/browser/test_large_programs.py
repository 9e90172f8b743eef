"""A program of a hundred thousand operations, run through the site: a picture, or a refusal in words."""

import player_programs as programs
import pytest
from browser_parts import OpenPage
from playwright.sync_api import expect

CHAIN = """\
import torch
y = x = torch.tensor(1.0, requires_grad=True)
for _ in range(100_000):
    y = y * 1.0
y.backward()
"""
LONGEST_MS = 120_000


@pytest.mark.nightly
def test_a_hundred_thousand_operations_are_a_picture_or_a_sentence(open_page: OpenPage) -> None:
    page = open_page(programs.link_to(CHAIN))
    picture = page.locator("uw-player svg.graph-picture")
    refusal = page.locator(".mistake-head, .finding-short, .graph-waiting, .outcome").filter(has_text="time")

    expect(picture.or_(refusal).first).to_be_visible(timeout=LONGEST_MS)

    if picture.count():
        note = page.locator("uw-player .small-note")
        expect(note).to_contain_text("The graph is too large to be sent whole: nodes in its middle are left out")
        expect(picture).to_contain_text("for _: ×")
