"""The launcher's side of the mothers: one process per flavour, which imports once and forks all slots' zygotes."""

import logging
import subprocess
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from graders.box.card import Card
from graders.box.channel import Channel
from graders.box.interface import BoxFault, Profile
from graders.box.interpreter import clean_environment, plan_root, python_command
from graders.box.jail import orders
from graders.box.jail.orders import Setup, ZygoteOrder
from graders.box.launcher import Zygote
from graders.contract.jobs import Flavour

START_SECONDS: Final = 60.0
INSIDE_FOLDER: Final = Path(__file__).resolve().parents[1] / "inside"

logger = logging.getLogger(__name__)


class Mother:
    """A running mother. Every failure here is a BoxFault."""

    def __init__(self, flavour: Flavour, profile: Profile, card: Card | None = None) -> None:
        setup = Setup(profile.value, flavour.value, plan_root(flavour, card), str(INSIDE_FOLDER))
        self.torch_version: str | None = None
        self._profile = profile
        self._channel = Channel("mother")
        with self._channel.theirs as theirs:
            self._process = subprocess.Popen(
                python_command(f"from graders.box.jail import mother; mother.main({theirs.fileno()})"),
                # The launcher's environment, with its secrets or a coverage hook, must not reach the box.
                env=clean_environment(card),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=self._channel.log,
                stderr=self._channel.log,
                cwd="/",
                start_new_session=True,
            )
        try:
            self._channel.send(orders.as_fields(setup))
        except BoxFault:
            self.close()
            raise

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def wait_until_ready(self) -> None:
        """Separate from the start, so that the mothers of all flavours can import at the same time."""
        if self.torch_version is None:
            facts, _ = self._channel.await_ready(START_SECONDS)
            self.torch_version = str(facts["torch"])

    def fork(self, order: ZygoteOrder) -> Zygote:
        """Returns a zygote that is not ready yet."""
        channel = Channel("zygote")
        try:
            with channel.theirs as theirs:
                self._channel.send(orders.as_fields(order), [theirs.fileno(), channel.log.fileno()])
        except BoxFault:
            channel.close()
            raise
        return Zygote(channel, self._profile)

    def close(self) -> None:
        """End the process. Its zygotes go on, because each has its own channel."""
        self._channel.hang_up()
        try:
            self._process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._channel.close()


class Mothers:
    """The mothers that slots share: they start with the first slot and end with the last; a dead one is replaced."""

    def __init__(self, profile: Profile, card: Card | None = None) -> None:
        self.profile = profile
        self._card = card
        self._mothers: dict[Flavour, Mother] = {}
        self._changing = {flavour: threading.Lock() for flavour in Flavour}
        self._counting = threading.Lock()
        self._slots = 0

    def join(self, flavours: Iterable[Flavour]) -> None:
        """Count one more slot, and start the mothers of these flavours, without waiting for their imports."""
        with self._counting:
            self._slots += 1
        for flavour in flavours:
            with self._changing[flavour]:
                self._find_living(flavour)

    def leave(self) -> None:
        """Count one slot fewer; after the last one, end the mothers."""
        with self._counting:
            self._slots -= 1
            if self._slots:
                return
            for flavour in tuple(self._mothers):
                with self._changing[flavour]:
                    self._mothers.pop(flavour).close()

    def fork_zygote(self, flavour: Flavour, order: ZygoteOrder) -> Zygote:
        with self._changing[flavour]:
            mother = self._find_living(flavour)
            try:
                mother.wait_until_ready()
                return mother.fork(order)
            except BoxFault:
                self._mothers.pop(flavour).close()
                raise

    def find_mother(self, flavour: Flavour) -> Mother:
        """The flavour's current mother, dead or alive. Raises KeyError if there is none."""
        return self._mothers[flavour]

    def _find_living(self, flavour: Flavour) -> Mother:
        mother = self._mothers.get(flavour)
        if mother is not None and not mother.is_alive:
            logger.warning("the %s mother died; starting another", flavour)
            self._mothers.pop(flavour).close()
        if flavour not in self._mothers:
            # Code without torch has no use for a card.
            card = self._card if flavour is Flavour.TORCH else None
            self._mothers[flavour] = Mother(flavour, self.profile, card)
        return self._mothers[flavour]
