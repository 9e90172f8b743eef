"""What an unchanged page of a preview costs with 200 chapters and 400 exercises; 100 ms is the most it should."""

import asyncio
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import httpx2

from app.main import create_app
from app.settings import Settings
from app.storage.database import migrate

FIXTURE = Path(__file__).resolve().parent.parent / "tests" / "course"
CHAPTERS, EXERCISES, PAGES = 200, 400, 20
MODULE = '\n[[modules]]\nid = "many"\nnumber = 77\ntitle = "Many"\nsummary = "Many."\n'


def write_course(root: Path) -> None:
    """The test's course, with copies of one chapter and one exercise."""
    shutil.copytree(FIXTURE, root, ignore=shutil.ignore_patterns(".cache"))
    entries = ""
    for number in range(CHAPTERS):
        shutil.copytree(FIXTURE / "chapters" / "a-first-graph", root / "chapters" / f"copy-{number}")
        entries += f'\n[[modules.chapters]]\nslug = "copy-{number}"\n'
    for number in range(EXERCISES):
        shutil.copytree(FIXTURE / "exercises" / "double", root / "exercises" / f"copy-{number}")
    with (root / "course.toml").open("a", encoding="utf-8") as file:
        file.write(MODULE + entries)


async def measure(settings: Settings) -> list[float]:
    """Seconds for each of some pages, after the first one has read the course."""
    app = create_app(settings)
    seconds = []
    async with app.router.lifespan_context(app):
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            for _ in range(PAGES):
                started = time.perf_counter()
                response = await client.get("/chapters/copy-3", timeout=120)
                seconds.append(time.perf_counter() - started)
                response.raise_for_status()
    return seconds[2:]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "course"
        write_course(root)
        settings = Settings(data=Path(folder) / "data", course=root, preview=True)
        settings.data.mkdir()
        migrate(settings.database, settings.data)
        seconds = asyncio.run(measure(settings))
    middle = statistics.median(seconds) * 1000
    most = max(seconds) * 1000
    print(f"an unchanged page of {CHAPTERS} chapters: {middle:.0f} ms in the middle, {most:.0f} ms at most")


if __name__ == "__main__":
    main()
