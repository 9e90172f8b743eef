"""Puts the files with slow tests first: two workers that take whole files then end at about the same time."""

import pytest


@pytest.hookimpl(trylast=True)  # after the folders' own hooks, which mark their tests as slow
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
