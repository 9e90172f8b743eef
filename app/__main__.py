"""The site's command line; each command has its own module."""

import argparse
import os
import sys
from collections.abc import Sequence

try:
    from pydantic import ValidationError
except ModuleNotFoundError as missing:
    sys.exit(f"{sys.executable} has no {missing.name}: run `make environment` once, then `. .venv/bin/activate`")

from app.settings import PRIVATE_UMASK, Settings, read_settings
from graders.contract.environment import describe_invalid, find_unknown
from graders.contract.settings import GraderSettings

ON_THE_SITE = ("serve", "site", "migrate", "operator", "publish", "doctor")
"""Commands that read or write the site's database; the others work on the course's files."""
WITH_ARGUMENTS = ("operator", "publish", "doctor", "check", "new", "export", "import", "contents", "releases")
"""They parse their own arguments; argparse.REMAINDER would refuse ones that begin with an option."""
MAX_WORKERS = 64
COMPOSE_SETTINGS = ("address", "site_memory", "grader_memory")
"""Variables that docker-compose.yml reads, and that may also be set in a container's environment."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m app", description="The course and its website.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("serve", help="migrate, then run the website and one grader until stopped")
    site = commands.add_parser("site", help="migrate, then run only the website: start graders separately")
    site.add_argument("--workers", type=read_count, default=1, metavar="N", help="as N processes on this host")
    migrate = commands.add_parser("migrate", help="bring the database up to date")
    migrate.add_argument("--worker-role", help="PostgreSQL's role for graders: give it the rights that they need")
    commands.add_parser(
        "operator", help="make somebody an operator: prints a link for their password", add_help=False
    )
    commands.add_parser("publish", help="give a running site a new version of the course", add_help=False)
    commands.add_parser("doctor", help="say what is wrong with this installation, and the remedy", add_help=False)
    commands.add_parser("check", help="prove the course: structure, cells, claims, exercises", add_help=False)
    commands.add_parser("new", help="start a course, a chapter or an exercise", add_help=False)
    commands.add_parser("export", help="write a chapter as a notebook, an exercise as a folder", add_help=False)
    commands.add_parser("import", help="start a chapter from a notebook, or add an exercise", add_help=False)
    commands.add_parser("contents", help="list the course's chapters and exercises in two tables", add_help=False)
    commands.add_parser("releases", help="run the course's claims on other releases of torch", add_help=False)
    chosen, rest = parser.parse_known_args(arguments)
    if rest and chosen.command not in WITH_ARGUMENTS:
        parser.error(f"{chosen.command} takes no arguments, but got {' '.join(rest)}")
    if unknown := find_unknown({*Settings.model_fields, *GraderSettings.model_fields, *COMPOSE_SETTINGS}):
        print("\n".join(unknown), file=sys.stderr)
        return 2
    try:
        settings = read_settings()
    except ValidationError as problem:
        print(describe_invalid(problem), file=sys.stderr)
        return 2
    if chosen.command in ON_THE_SITE:
        os.umask(PRIVATE_UMASK)
        return _run_on_site(chosen, rest, settings)
    return _run_on_course(chosen.command, rest)


def read_count(text: str) -> int:
    """A number of processes. Raises ArgumentTypeError, whose text the parser prints."""
    if not text.isdecimal() or not 1 <= int(text) <= MAX_WORKERS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {MAX_WORKERS}")
    return int(text)


# Imported where used, because a migration needs no web framework and a check needs no database.
def _run_on_site(chosen: argparse.Namespace, rest: list[str], settings: Settings) -> int:
    match chosen.command:
        case "serve":
            from app.serve import serve  # noqa: PLC0415

            return serve(settings)
        case "site":
            from app.serve import serve_site  # noqa: PLC0415

            return serve_site(settings, chosen.workers)
        case "migrate":
            from app.serve import migrate_alone  # noqa: PLC0415

            return migrate_alone(settings, chosen.worker_role)
        case "publish":
            from app.publish import main as publish  # noqa: PLC0415

            return publish(rest, settings)
        case "doctor":
            from app.doctor import main as examine  # noqa: PLC0415

            return examine(rest, settings)
        case _:
            from app.operator import main as make_operator  # noqa: PLC0415

            return make_operator(rest, settings)


def _run_on_course(command: str, rest: list[str]) -> int:
    match command:
        case "check":
            from app.check import main as check  # noqa: PLC0415

            return check(rest)
        case "contents":
            from app.contents import main as tell_contents  # noqa: PLC0415

            return tell_contents(rest)
        case "releases":
            from app.releases import main as run_releases  # noqa: PLC0415

            return run_releases(rest)
        case "export":
            from app.exchange import export  # noqa: PLC0415

            return export(rest)
        case "import":
            from app.exchange import import_  # noqa: PLC0415

            return import_(rest)
        case _:
            from app.new import main as start_new  # noqa: PLC0415

            return start_new(rest)


if __name__ == "__main__":
    sys.exit(main())
