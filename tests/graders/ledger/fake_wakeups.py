"""Wake-ups within one process that remember which topics were woken, and that a test can have lost on the way."""

import asyncio


class FakeListener:
    def __init__(self, listeners: set["FakeListener"]) -> None:
        self._woken = asyncio.Event()
        self._listeners = listeners
        listeners.add(self)

    def wake(self) -> None:
        self._woken.set()

    async def wait(self, timeout_seconds: float) -> bool:
        try:
            async with asyncio.timeout(timeout_seconds):
                await self._woken.wait()
        except TimeoutError:
            return False
        self._woken.clear()
        return True

    def close(self) -> None:
        self._listeners.discard(self)


class FakeWakeups:
    """`woken` lists the topics in the order of their wake-ups; while `lost`, none of them arrives."""

    def __init__(self) -> None:
        self.woken: list[str] = []
        self.lost = False
        self._listeners: dict[str, set[FakeListener]] = {}

    def listen(self, topic: str) -> FakeListener:
        return FakeListener(self._listeners.setdefault(topic, set()))

    def wake(self, topic: str) -> None:
        self.woken.append(topic)
        if not self.lost:
            for listener in self._listeners.get(topic, ()):
                listener.wake()

    async def close(self) -> None:
        """Nothing is held."""
