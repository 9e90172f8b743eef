"""Sends grades to learning platforms while the site runs: compares, takes what is due, sends, notes the answer."""

import asyncio
import itertools
import json
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime

from joserfc.jwk import RSAKey
from pydantic import SecretStr

from app.course.model import Course
from app.linking.delivery import Step, find_next_try, read_answer, scores_of, write_score
from app.linking.fetching import Answer, NoAnswer, Refused
from app.linking.grade_services import SCORE, SCORE_TYPE
from app.linking.line_items import Column, find_or_make_line_item
from app.linking.lti import Registration
from app.linking.platforms import NoToken, Platforms
from app.storage.audit import Actor
from app.storage.lti_courses import LtiCourse
from app.storage.lti_scores import LEASE, Claimed, Score
from app.storage.store import Store
from app.web.lti.signing import get_signing_key
from app.web.views.grades import grade_all
from graders.ledger import StorageRefused

log = logging.getLogger(__name__)

PAUSE_SECONDS = 15.0
ROUNDS_PER_COMPARISON = 4
"""Comparing reads a whole class, so it happens once a minute."""
SENT_AT_ONCE = 50
COMPARED_AT_ONCE = 20
"""People whose grades are computed in one go, because requests wait meanwhile."""
NO_COLUMN = (
    "The platform has no column for this assignment, and lets this site make none. Add it there by the picker."
)
AWAY = "The platform does not answer; the grade is sent again later."
FORBIDDEN = "The platform lets this site send no grades. Its administrator has to allow the service for grades."


class GradeSender:
    """One for each website process; a lease keeps two from sending the same grade."""

    def __init__(
        self,
        store: Store,
        platforms: Platforms,
        secret: SecretStr,
        read_course: Callable[[], Course],
        clock: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._platforms = platforms
        self._secret = secret
        self._read_course = read_course
        self._clock = clock

    async def keep_sending(self) -> None:
        """Send until cancelled. After StorageRefused, the next round tries again."""
        for number in itertools.count():
            await asyncio.sleep(PAUSE_SECONDS)
            try:
                if number % ROUNDS_PER_COMPARISON == 0:
                    await self.compare()
                await self.send()
            except StorageRefused:
                continue
            except Exception:
                # One broken row must not end the sending of all others for good.
                log.exception("sending grades failed; it goes on in %d s", PAUSE_SECONDS)

    async def compare(self) -> int:
        """Put every grade that differs from what its platform was told into the outbox; returns how many."""
        return sum([await self._compare_one(course) for course in await self._store.lti_courses.linked()])

    async def _compare_one(self, linked: LtiCourse) -> int:
        scores, assignments, now = self._store.lti_scores, self._store.assignments, self._clock()
        assert linked.section is not None
        people = await scores.recipients(linked.id)
        everything = await assignments.of_section(linked.section)
        # A prediction may be made, or a grade set, before the opening, of which learners see nothing here either.
        opened = [one for one in everything if one.opens_at is None or one.opens_at <= now]
        assigned = [one for one in opened if one.published and one.points > 0]
        policy = await assignments.policy(linked.section)
        changed, maximum = 0, {one.id: one.points for one in assigned}
        for start in range(0, len(people) if assigned else 0, COMPARED_AT_ONCE):
            some = people[start : start + COMPARED_AT_ONCE]
            work = await assignments.class_work(linked.section, assigned, some)
            graded = grade_all(self._read_course(), policy, assigned, some, work, now)
            wanted = [
                Score(assignment, account, _round(found.grade.points), maximum[assignment])
                for (assignment, account), found in graded.items()
            ]
            changed += await scores.note(linked.id, wanted, now)
        return changed

    async def send(self) -> int:
        """Send what is due; returns how many grades were tried. Platforms do not wait for each other."""
        claimed = await self._store.lti_scores.claim(self._clock(), SENT_AT_ONCE)
        groups: dict[str, list[Claimed]] = defaultdict(list)
        for one in claimed:
            groups[one.registration].append(one)
        return sum(await asyncio.gather(*(self._send_to(name, group) for name, group in groups.items())))

    async def _send_to(self, registration: str, group: list[Claimed]) -> int:
        """Send to one platform until it is away: it is asked again later, and not once for each grade."""
        platform = await self._store.lti_registrations.find(registration)
        until = self._clock() + LEASE / 2
        for number, one in enumerate(group):
            late = self._clock() > until
            if late or platform is None or not await self._send_one(platform, one):
                await self._store.lti_scores.release(group[number:] if late else group[number + 1 :])
                return number
        return len(group)

    async def _send_one(self, platform: Registration, claimed: Claimed) -> bool:
        """Send one grade; returns whether the platform answers."""
        scores, stamp = self._store.lti_scores, claimed.stamp
        if SCORE not in json.loads(claimed.scopes):
            await scores.stop(claimed, stamp, FORBIDDEN)
            return True
        try:
            line_item = claimed.line_item or await self._find_line_item(platform, claimed)
            if line_item is None:
                await scores.stop(claimed, stamp, NO_COLUMN)
                return True
            answer = await self._post(platform, claimed, line_item, stamp)
            verdict = read_answer(answer.status, is_second=False)
            if verdict.step is Step.LATER_STAMP:
                stamp += 1.0
                answer = await self._post(platform, claimed, line_item, stamp)
                verdict = read_answer(answer.status, is_second=True)
        except Refused as problem:
            # The platform is there, so the grades for its other columns need not wait.
            log.warning("%s refuses a column: %s", platform.name, problem)
            await scores.stop(claimed, stamp, NO_COLUMN)
            return True
        except (NoAnswer, NoToken) as problem:
            log.warning("a grade was not sent to %s: %s", platform.name, problem)
            await self._try_later(claimed, stamp, AWAY, Answer(0, {}, b""))
            return False
        await self._settle(claimed, verdict.step, verdict.problem, stamp, answer)
        return answer.status != 429 and answer.status < 500

    async def _settle(self, claimed: Claimed, step: Step, problem: str, stamp: float, answer: Answer) -> None:
        scores = self._store.lti_scores
        if step is Step.DONE:
            await scores.finish(claimed, stamp, self._clock())
        elif step is Step.WAIT:
            await self._try_later(claimed, stamp, problem, answer)
        else:
            log.warning("a platform answers %s to a grade: %s", answer.status, problem)
            await scores.stop(claimed, stamp, problem)

    async def _try_later(self, claimed: Claimed, stamp: float, problem: str, answer: Answer) -> None:
        due_at = find_next_try(claimed.tries + 1, claimed.changed_at, self._clock(), answer.headers)
        if due_at is None:
            await self._store.lti_scores.stop(claimed, stamp, f"{problem} It was tried for two weeks.")
        else:
            await self._store.lti_scores.postpone(claimed, stamp, due_at, problem)

    async def _post(self, platform: Registration, claimed: Claimed, line_item: str, stamp: float) -> Answer:
        score = claimed.score
        return await self._platforms.call(
            platform,
            await self._key(),
            (SCORE,),
            "POST",
            scores_of(line_item),
            content=json.dumps(write_score(claimed.subject, score.points, score.maximum, stamp)),
            headers={"content-type": SCORE_TYPE},
        )

    async def _find_line_item(self, platform: Registration, claimed: Claimed) -> str | None:
        column = Column(claimed.score.assignment, claimed.title, claimed.score.maximum, claimed.kind)
        scopes: Iterable[str] = json.loads(claimed.scopes)
        found = await find_or_make_line_item(
            self._platforms, platform, await self._key(), claimed.lineitems_url, tuple(scopes), column
        )
        if found is not None:
            scores = self._store.lti_scores
            await scores.note_line_item(claimed.course, claimed.score.assignment, found, self._clock())
        return found

    async def _key(self) -> RSAKey:
        return await get_signing_key(self._store.lti_registrations, self._secret, Actor(None, self._clock()))


def _round(points: float | None) -> float | None:
    """To what is sent, so that a difference that no platform sees is no change."""
    return None if points is None else round(points, 2)
