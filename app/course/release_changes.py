"""What changed between releases of torch: the claims that hold on some of them alone. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.course.blocks import Claim
from app.course.checking.evidence import hash_claim
from app.course.claim_status import read_release, uses_torch
from app.course.model import Chapter, Course
from app.course.releases import order_releases


def list_claims(course: Course) -> dict[str, Claim]:
    """The claims that another release of torch may decide otherwise, by "chapter/claim"."""
    return {
        f"{chapter.slug}/{claim.id}": claim
        for chapter in course.chapters
        for claim in chapter.index.claims.values()
        if claim.needs == "cpu" and uses_torch(claim)
    }


@dataclass(frozen=True)
class Changed:
    """A claim that holds on some releases alone. `results` has "" where it held, None where it was not run."""

    chapter: Chapter
    claim: Claim
    results: Mapping[str, str | None]


def compare_releases(course: Course) -> tuple[Changed, ...]:
    """The claims whose present code held on one release and not on another, in reading order."""
    changed = []
    for name, claim in list_claims(course).items():
        results = _read_results(course, name, claim)
        said = [result for result in results.values() if result is not None]
        if any(said) and "" in said:
            changed.append(Changed(course.index.by_slug[name.partition("/")[0]], claim, results))
    return tuple(changed)


def list_releases(course: Course) -> list[str]:
    """The releases that claims ran on, oldest first; the course's own is among them."""
    return order_releases({*course.releases.runs, course.torch})


def _read_results(course: Course, name: str, claim: Claim) -> dict[str, str | None]:
    content, results = hash_claim(claim), dict[str, str | None]()
    for release in list_releases(course):
        run = course.releases.runs.get(release)
        result = run.claims.get(name) if run else None
        results[release] = result.message if result and result.content == content else None
    evidence = course.evidence.get(name)
    if evidence is not None and read_release(evidence.torch) == course.torch:
        results[course.torch] = "" if evidence.held else (evidence.message or "it did not hold")
    return results
