"""One reference process for these tests: it starts in a third of a second, and serves them all."""

from collections.abc import Iterator

import pytest

from graders.trusted.reference import ReferenceServer


@pytest.fixture(scope="session")
def reference() -> Iterator[ReferenceServer]:
    server = ReferenceServer()
    yield server
    server.close()
