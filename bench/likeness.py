"""Likeness in a class of 500: how long the prints take, and how long comparing every two of them.

A submission is made of the repository's own passing answers: a random one to each of several exercises, in a random
order, until it has some 110 lines. So most of each is in dozens of others, as in a class. Prints processor times.
"""

import random
import statistics
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from app.learning.likeness import compare, make_print  # noqa: E402

LEARNERS = 500
LINES = 110
ROUNDS = 3


def read_passing() -> list[list[str]]:
    """The passing answers of each exercise."""
    found = []
    for folder in sorted(path for path in (ROOT / "exercises").iterdir() if path.is_dir()):
        listed = tomllib.loads((folder / "exercise.toml").read_text(encoding="utf-8"))["attempts"]
        files = [folder / "attempts" / one["file"] for one in listed if one["outcome"] == "passed"]
        found.append([path.read_text(encoding="utf-8") for path in (folder / "solution.py", *files)])
    return found


def write_submission(passing: list[list[str]], draw: random.Random) -> str:
    lines: list[str] = []
    for answers in draw.sample(passing[:8], 8):
        lines += draw.choice(answers).splitlines()
        if len(lines) >= LINES:
            break
    return "\n".join(lines)


def main() -> None:
    draw = random.Random(7)
    passing = [answers for answers in read_passing() if len(answers) > 2]
    texts = {f"learner {number}": write_submission(passing, draw) for number in range(LEARNERS)}
    lengths = [text.count("\n") + 1 for text in texts.values()]
    made, compared = [], []
    for _ in range(ROUNDS):
        started = time.process_time()
        prints = {name: make_print(text) for name, text in texts.items()}
        made.append(time.process_time() - started)
        started = time.process_time()
        found = compare(prints, None)
        compared.append(time.process_time() - started)
    print(f"{LEARNERS} submissions of {statistics.median(lengths):.0f} lines (median), {len(found.pairs)} pairs")
    print(f"prints    {statistics.median(made):6.2f} s")
    print(f"all pairs {statistics.median(compared):6.2f} s")


if __name__ == "__main__":
    main()
