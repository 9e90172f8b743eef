"""Reads a course from disk. No other module of this package opens files. Results are cached until a file changes."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from app.course.block_tree import Block, Box, Reveal
from app.course.blocks import Graph, Measure
from app.course.chapter import ChapterParser, ParsedChapter
from app.course.checking.advice import advise_files, advise_offers
from app.course.checking.concepts import advise_variants, check_concepts
from app.course.checking.evidence import EvidenceFile, evidence_of, read_evidence
from app.course.course_file import ChapterEntry, CourseFile, ModuleEntry
from app.course.debugging import PATH as DEBUGGING
from app.course.debugging import check_guide_links, read_debugging
from app.course.drills.drill import FOLDER as DRILLS
from app.course.drills.reading import read_drills
from app.course.exercise_file import EXERCISE_FILES, ExerciseText, ReadExercise, read_exercise
from app.course.explained import PATH as COURSE_FILE
from app.course.explained import explain_rules, link_rules
from app.course.files import (
    Signature,
    find_strays,
    judge_pictures,
    list_drawn_files,
    may_be_read,
    read_text,
    sign_files,
)
from app.course.gallery import FOLDER as GALLERY
from app.course.gallery import Snippet, check_gallery, read_snippet
from app.course.glossary import PATH as GLOSSARY
from app.course.glossary import check_terms, note_uses, read_glossary
from app.course.language.links import check_drills, check_links
from app.course.language.toml_file import find_line, read_toml
from app.course.language.typeset import Typesetter
from app.course.model import Chapter, Course, Evidence, Module, PlannedChapter
from app.course.problems import ADVICE, ContentProblem, Report, Rule, one_of, suggest
from app.course.questions.committed import (
    MEASURES,
    VARIANTS,
    File,
    MeasureFile,
    VariantFile,
    draws_of,
    measurement_of,
    read_file,
)
from app.course.questions.question import QuestionBase
from app.course.releases import FILE as RELEASES
from app.course.releases import ReleasesFile, read_releases
from app.course.sets import check_sets, find_sets
from app.course.starts import check_starts, find_starts, link_starts

KATEX = Path(__file__).parent / "vendor" / "katex" / "katex.min.js"

ALL_PAGES = ("problems", "play", "claims")
PAGES_WITHOUT_TORCH = ("problems", "claims")
"""The player steps through PyTorch's graphs."""

WATCHED = (
    "course.toml", "LICENSE", GLOSSARY, DEBUGGING, "gallery/*.py", "drills/*", RELEASES,
    "chapters/*/chapter.md", "chapters/*/evidence.json", "chapters/*/figures/*", "chapters/*/traces/*.json",
    "chapters/*/variants/*.json", "chapters/*/measures/*.json",
    "exercises/*/*", "exercises/*/attempts/*", "exercises/*/mutants/*",
)  # fmt: skip


@dataclass(frozen=True)
class LoadedCourse:
    """A course with all problems of its text, in the order of files and lines."""

    course: Course
    problems: tuple[ContentProblem, ...]
    advice: tuple[ContentProblem, ...] = ()
    """What fails only a strict check."""


def load_course(root: Path) -> tuple[Course, tuple[ContentProblem, ...]]:
    """The course under `root`, read once."""
    loaded = CourseReader(root).read()
    return loaded.course, loaded.problems


class CourseReader:
    """Reads a course, and reads it again when a file changed; an unchanged chapter is not parsed again."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._typesetter = Typesetter(KATEX.read_text(encoding="utf-8"))
        self._parser = ChapterParser(self._typesetter)
        self._parsed: dict[str, tuple[str, ParsedChapter]] = {}
        self.signature: Signature = ()
        """The signature of the files at the time they were read."""
        self._loaded: LoadedCourse | None = None

    def read(self) -> LoadedCourse:
        """The course as it is now: the same object for as long as no file changes."""
        signature = sign_course(self.root)
        if self._loaded is None or signature != self.signature:
            self._loaded = self._read()
            self.signature = signature
        return self._loaded

    def _read(self) -> LoadedCourse:
        report = Report("course.toml")
        path = self.root / COURSE_FILE
        text = self._read_root(COURSE_FILE, Rule.COURSE_FILE, report)
        if not path.is_file():
            remedy = "write course.toml at the root of the course; see docs/writing-a-chapter.md"
            report.add(1, Rule.COURSE_FILE, "course.toml", f"{path} does not exist", remedy)
        file = read_toml(text, CourseFile, Rule.COURSE_FILE, report) if text else None
        if file is None:
            return LoadedCourse(_empty_course(self.root), tuple(sorted(report.problems)))
        return self._assemble(file, text, report)

    def _assemble(self, file: CourseFile, text: str, report: Report) -> LoadedCourse:
        entries = [entry for module in file.modules for entry in module.chapters]
        _check_entries(entries, text, self.root, report)
        _check_modules(file.modules, text, report)
        parsed = {entry.slug: found for entry in entries if (found := self._parse_chapter(entry.slug, report))}
        read = {folder.name: self._read_exercise(folder, file.concepts) for folder in self._exercise_folders()}
        links = {path: found for exercise in read.values() for path, found in exercise.links.items()}
        problems = [problem for exercise in read.values() for problem in exercise.problems]
        drafts = frozenset(n for n, found in read.items() if found.exercise and found.exercise.manifest.draft)
        exercises = {name: found.exercise for name, found in read.items() if found.exercise}
        problems += [*find_strays(self.root), *advise_offers(parsed, exercises.values())]
        text_of_terms = self._read_root(GLOSSARY, Rule.GLOSSARY_FILE, report)
        terms, glossary_problems, links[GLOSSARY] = read_glossary(text_of_terms, self._parser)
        text_of_guide = self._read_root(DEBUGGING, Rule.DEBUGGING_FILE, report)
        guide, guide_problems, links[DEBUGGING] = read_debugging(text_of_guide, self._parser)
        gallery = self._read_gallery(report)
        drill_files = self._read_drill_files(report)
        drills = read_drills(drill_files, file.concepts, self._parser)
        problems += check_drills(parsed, [Path(name).stem for name in drill_files if name.endswith(".md")])
        problems += drills.problems
        links |= drills.links
        problems += [*glossary_problems, *guide_problems, *check_gallery(gallery)]
        links[COURSE_FILE] = (*link_rules(file.explained, text), *link_starts(file.starts, text))
        check_sets(file, text, exercises, frozenset(read), report)
        check_starts(file.starts, text, report, has_guide=guide is not None)
        problems += check_links(parsed, file, frozenset(read), links, drafts)
        if set(_list_folders(self.root)) <= {entry.slug for entry in entries}:
            # A chapter that is on disk and not listed may be the one that asks.
            problems += check_concepts(parsed, file.concepts)
        chapter_links = {f"chapters/{slug}/chapter.md": chapter.links for slug, chapter in parsed.items()}
        problems += check_terms(terms, chapter_links | links)
        if guide or not guide_problems:
            problems += check_guide_links(guide, chapter_links | links)
        for slug, chapter in parsed.items():
            problems += chapter.problems
            folder = self.root / "chapters" / slug
            problems += _find_missing_images(folder, chapter)
            problems += [*judge_pictures(self.root, folder), *advise_files(slug, chapter, list_drawn_files(folder))]
        modules = _number(file.modules, parsed)
        evidence, evidence_problems = self._read_evidence(modules)
        releases, release_problems = load_releases(self.root)
        course = Course(
            root=self.root,
            title=file.title,
            tagline=file.tagline,
            torch=file.torch,
            modules=modules,
            concepts=file.concepts,
            exercises=exercises,
            evidence=evidence,
            glossary=note_uses(terms, parsed),
            debugging=guide,
            explained=explain_rules(file.explained, text, _written(modules)),
            starts=find_starts(file.starts, _written(modules), guide.title if guide else ""),
            sets=find_sets(file.sets, exercises),
            gallery=gallery,
            drills=drills.drills,
            brand=file.brand or file.title,
            lead=file.lead,
            pages=file.pages if file.pages is not None else (ALL_PAGES if file.torch else PAGES_WITHOUT_TORCH),
            releases=releases,
            math_css=self._typesetter.stylesheet(),
        )
        told = sorted([*report.problems, *problems, *evidence_problems, *release_problems])
        advice = tuple(sorted([*(each for each in told if each.rule in ADVICE), *advise_variants(course)]))
        return LoadedCourse(course, tuple(each for each in told if each.rule not in ADVICE), advice)

    def _parse_chapter(self, slug: str, report: Report) -> ParsedChapter | None:
        path = self.root / "chapters" / slug / "chapter.md"
        if not may_be_read(path, self.root):
            return None
        text = read_text(path, self.root, Rule.COURSE_FILE, report)
        drawn = _read_drawn(path.parent, report)
        digest = hashlib.sha256("\0".join((text, *map(str, sorted(drawn.items())))).encode()).hexdigest()
        kept = self._parsed.get(slug)
        if kept and kept[0] == digest:
            return kept[1]
        parsed = self._parser.parse(text, f"chapters/{slug}/chapter.md", slug)
        if parsed.chapter is not None:
            found = Report("")
            chapter = _complete(parsed.chapter, self.root, drawn, found)
            parsed = replace(parsed, chapter=chapter, problems=(*parsed.problems, *found.problems))
        self._parsed[slug] = (digest, parsed)
        return parsed

    def _read_root(self, name: str, rule: Rule, report: Report) -> str:
        """The text of a file at the course's root; empty if it is missing or may not be read."""
        path = self.root / name
        return read_text(path, self.root, rule, report) if may_be_read(path, self.root) else ""

    def _read_gallery(self, report: Report) -> tuple[Snippet, ...]:
        """The gallery's programs, in the order of the file names."""
        paths = [path for path in sorted((self.root / GALLERY).glob("*.py")) if may_be_read(path, self.root)]
        return tuple(read_snippet(path.stem, read_text(path, self.root, Rule.GALLERY, report)) for path in paths)

    def _read_drill_files(self, report: Report) -> dict[str, str]:
        """The texts of the folder with the drills, by file name."""
        paths = [path for path in sorted((self.root / DRILLS).glob("*.*")) if may_be_read(path, self.root)]
        wanted = [path for path in paths if path.suffix in (".md", ".py", ".json")]
        return {path.name: read_text(path, self.root, Rule.DRILL, report) for path in wanted}

    def _read_exercise(self, folder: Path, concepts: Mapping[str, str]) -> ReadExercise:
        report = Report(f"exercises/{folder.name}/exercise.toml")
        return read_exercise(_exercise_text(folder, report), concepts, self._parser, report)

    def _exercise_folders(self) -> list[Path]:
        folders = sorted((self.root / "exercises").glob("*/"))
        return [folder for folder in folders if not folder.name.startswith((".", "_"))]

    def _read_evidence(self, modules: tuple[Module, ...]) -> tuple[dict[str, Evidence], list[ContentProblem]]:
        evidence: dict[str, Evidence] = {}
        problems: list[ContentProblem] = []
        for chapter in _written(modules):
            file, found = load_evidence(self.root, chapter.slug)
            problems += found
            for claim in chapter.index.claims.values():
                if known := evidence_of(claim, file):
                    evidence[f"{chapter.slug}/{claim.id}"] = known
        return evidence, problems


def load_evidence(root: Path, slug: str) -> tuple[EvidenceFile, list[ContentProblem]]:
    """A chapter's evidence file; empty if there is none yet."""
    report = Report(f"chapters/{slug}/evidence.json")
    path = root / "chapters" / slug / "evidence.json"
    if not may_be_read(path, root):
        return EvidenceFile(), []
    return read_evidence(read_text(path, root, Rule.EVIDENCE_FILE, report), report), report.problems


def load_releases(root: Path) -> tuple[ReleasesFile, list[ContentProblem]]:
    """The claims' runs on other releases of torch; empty if there are none yet."""
    report, path = Report(RELEASES), root / RELEASES
    if not may_be_read(path, root):
        return ReleasesFile(), []
    return read_releases(read_text(path, root, Rule.EVIDENCE_FILE, report), report), report.problems


def sign_course(root: Path) -> Signature:
    """A value that changes whenever a file of the course changes."""
    return tuple(sign_files(str(root), [pattern.split("/") for pattern in WATCHED]))


def _exercise_text(folder: Path, report: Report) -> ExerciseText:
    root = folder.parents[1]
    texts = {
        name: read_text(folder / name, root, Rule.EXERCISE_FILE, report)
        for name in EXERCISE_FILES
        if may_be_read(folder / name, root)
    }
    attempts = frozenset(path.name for path in folder.glob("attempts/*.py"))
    return ExerciseText(folder, texts, attempts)


def _read_drawn(folder: Path, report: Report) -> dict[str, str]:
    """The committed draws and measurements as text, by path within the chapter's folder."""
    paths = [path for name in (VARIANTS, MEASURES) for path in sorted((folder / name).glob("*.json"))]
    root = folder.parents[1]
    read = (path for path in paths if may_be_read(path, root))
    return {path.relative_to(folder).as_posix(): read_text(path, root, Rule.EVIDENCE_FILE, report) for path in read}


def _complete(chapter: Chapter, root: Path, drawn: Mapping[str, str], report: Report) -> Chapter:
    """Adds to a parsed chapter what its text does not hold: paths on this machine, draws and measurements."""

    def complete(block: Block) -> Block:
        match block:
            case Graph():
                return replace(block, trace_path=root / block.trace_path)
            case QuestionBase(variant=variant) if variant is not None:
                variants = find_drawn(drawn, VARIANTS, block.id, VariantFile, chapter.slug, report)
                return replace(block, variant=replace(variant, draws=draws_of(variants))) if variants else block
            case Measure():
                table = find_drawn(drawn, MEASURES, block.id, MeasureFile, chapter.slug, report)
                return replace(block, committed=measurement_of(table, block)) if table else block
            case Box() | Reveal():
                return replace(block, blocks=tuple(complete(inner) for inner in block.blocks))
            case _:
                return block

    return replace(chapter, blocks=tuple(complete(block) for block in chapter.blocks))


def find_drawn(
    drawn: Mapping[str, str], kind: str, name: str, model: type[File], slug: str, report: Report
) -> File | None:
    """One block's committed file, or None. An unreadable file is reported at its own path."""
    text = drawn.get(f"{kind}/{name}.json")
    there = Report(f"chapters/{slug}/{kind}/{name}.json")
    found = read_file(text, model, there) if text is not None else None
    report.problems += there.problems
    return found


def _check_entries(entries: list[ChapterEntry], text: str, root: Path, report: Report) -> None:
    slugs = [entry.slug for entry in entries]
    folders = _list_folders(root)
    unnamed = [name for name in folders if name not in slugs]
    for place, entry in enumerate(entries):
        line = find_line(text, entry.slug)
        if entry.slug in slugs[:place]:
            message = f"the chapter {entry.slug!r} is listed twice"
            report.add(line, Rule.COURSE_FILE, entry.slug, message, "keep one entry")
        if entry.slug not in folders and not entry.title:
            message = f"the planned chapter {entry.slug!r} has no title"
            remedy = suggest(entry.slug, unnamed, f"write `title = ...`, or chapters/{entry.slug}/chapter.md")
            unnamed = [name for name in unnamed if repr(name) not in remedy]
            report.add(line, Rule.COURSE_FILE, entry.slug, message, remedy)
    for name in unnamed:
        message = f"no module lists the folder chapters/{name}"
        remedy = f'add {{ slug = "{name}" }} to a module of course.toml'
        report.problems.append(
            ContentProblem(f"chapters/{name}/chapter.md", 1, Rule.COURSE_FILE, name, message, remedy)
        )


def _list_folders(root: Path) -> list[str]:
    """The written chapters on disk, listed in course.toml or not."""
    return [path.parent.name for path in sorted((root / "chapters").glob("*/chapter.md"))]


def _check_modules(modules: tuple[ModuleEntry, ...], text: str, report: Report) -> None:
    """Two modules with one number would have two chapters 1.1; two with one id, one page. Pages have no number."""
    tables = [number for number, line in enumerate(text.split("\n"), 1) if line.strip().startswith("[[modules]]")]
    for place, module in enumerate(modules):
        line = tables[place] if place < len(tables) else 1
        if module.numbered == (module.number is None):
            message = f"the module {module.id!r} has " + (
                "no number" if module.numbered else "a number it must not have"
            )
            remedy = "write `number = ...`, or `numbered = false` for pages beside the numbered chapters"
            report.add(line, Rule.COURSE_FILE, module.id, message, remedy if module.numbered else "remove `number`")
        for name in ("number", "id"):
            value = getattr(module, name)
            if value is not None and any(getattr(before, name) == value for before in modules[:place]):
                message = f"two modules have the {name} {value!r}"
                report.add(line, Rule.COURSE_FILE, str(value), message, "give each module its own")


def _find_missing_images(folder: Path, parsed: ParsedChapter) -> list[ContentProblem]:
    report = Report(f"chapters/{folder.name}/chapter.md")
    there = [f"figures/{path.name}" for path in sorted((folder / "figures").glob("*"))]
    for image in parsed.images:
        if image.path not in there:
            message = f"there is no picture {image.path!r} in chapters/{folder.name}/"
            report.add(image.line, Rule.MISSING_FILE, image.path, message, suggest(image.path, there, one_of(there)))
    return report.problems


def _number(entries: tuple[ModuleEntry, ...], parsed: dict[str, ParsedChapter]) -> tuple[Module, ...]:
    """The modules with their chapters in order, planned ones included; pages get no number and are not counted."""
    modules: list[Module] = []
    ordinal = 0
    for module in entries:
        chapters: list[Chapter | PlannedChapter] = []
        is_numbered = module.numbered and module.number is not None
        for position, entry in enumerate(module.chapters, 1):
            ordinal += is_numbered
            number, place = (f"{module.number}.{position}", ordinal) if is_numbered else ("", 0)
            found = parsed.get(entry.slug)
            if found and found.chapter:
                chapters.append(replace(found.chapter, number=number, ordinal=place, module=module.id))
            else:
                chapters.append(PlannedChapter(number, place, entry.title or entry.slug, entry.objectives))
        modules.append(
            Module(module.id, module.number if is_numbered else None, module.title, module.summary, tuple(chapters))
        )
    return tuple(modules)


def _written(modules: tuple[Module, ...]) -> tuple[Chapter, ...]:
    return tuple(entry for module in modules for entry in module.chapters if isinstance(entry, Chapter))


def _empty_course(root: Path) -> Course:
    return Course(root, "", "", "", (), {}, {}, {})
