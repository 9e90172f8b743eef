"""Sets of exercises, as course.toml names and picks them. Pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from app.course.course_file import CourseFile, SetEntry
from app.course.language.toml_file import find_line
from app.course.model import Exercise, ExerciseSet
from app.course.problems import Report, Rule, one_of, suggest


def find_sets(entries: Sequence[SetEntry], exercises: Mapping[str, Exercise]) -> tuple[ExerciseSet, ...]:
    """The sets with what is in them now. An exercise that does not exist is left out; the check reports it."""
    picked = (ExerciseSet(entry.name, entry.title, _pick(entry, exercises)) for entry in entries)
    return tuple(each for each in picked if each.exercises)


def keep_known(sets: Iterable[ExerciseSet], exercises: Collection[str]) -> tuple[ExerciseSet, ...]:
    """The sets with these exercises alone; one in which nothing is left is gone."""
    kept = (
        ExerciseSet(each.name, each.title, tuple(name for name in each.exercises if name in exercises))
        for each in sets
    )
    return tuple(each for each in kept if each.exercises)


def matches(exercise: Exercise, concepts: Collection[str], kinds: Collection[str], levels: Collection[str]) -> bool:
    """Whether an exercise matches each filter that is given; without any filter, none does."""
    manifest = exercise.manifest
    wanted = (
        (concepts, manifest.concepts),
        (kinds, (manifest.kind,)),
        (levels, (manifest.difficulty.value,)),
    )
    given = [(values, own) for values, own in wanted if values]
    return bool(given) and all(set(values) & set(own) for values, own in given)


def _pick(entry: SetEntry, exercises: Mapping[str, Exercise]) -> tuple[str, ...]:
    named = [name for name in dict.fromkeys(entry.exercises) if name in exercises]
    found = (
        name
        for name, exercise in exercises.items()
        if name not in named and matches(exercise, entry.concepts, entry.kinds, entry.difficulties)
    )
    return (*named, *found)


def check_sets(
    file: CourseFile, text: str, exercises: Mapping[str, Exercise], folders: Collection[str], report: Report
) -> None:
    """Reports at its line what a set names and the course lacks, and a set with nothing in it.

    `folders` are all exercises' folders: one that cannot be read is reported elsewhere.
    """
    kinds = sorted({exercise.manifest.kind for exercise in exercises.values()})
    for place, entry in enumerate(file.sets):
        line = find_line(text, "[[sets]]", f'"{entry.name}"')
        for rule, what, names, known in (
            (Rule.UNKNOWN_EXERCISE, "exercise", entry.exercises, sorted(folders)),
            (Rule.UNKNOWN_CONCEPT, "concept", entry.concepts, list(file.concepts)),
            (Rule.COURSE_FILE, "kind", entry.kinds, kinds),
        ):
            for name in names:
                if name not in known:
                    message = f"the set {entry.name!r} names the {what} {name!r}, which the course does not have"
                    report.add(line, rule, name, message, suggest(name, known, one_of(known)))
        if entry.name in [before.name for before in file.sets[:place]]:
            message = f"two sets are called {entry.name!r}"
            report.add(line, Rule.COURSE_FILE, entry.name, message, "give each set its own name")
        if not _pick(entry, exercises):
            message = f"the set {entry.name!r} holds no exercise"
            remedy = "name some in `exercises`, or pick them by `concepts`, `kinds` or `difficulties`"
            report.add(line, Rule.COURSE_FILE, entry.name, message, remedy)
