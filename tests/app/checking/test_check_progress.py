"""A terminal sees a bar with the time left, and a log sees lines."""

import io

from app.check import make_progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_bar_and_a_log_gets_lines() -> None:
    log, screen = io.StringIO(), Terminal()
    for done in range(1, 41):
        make_progress(log)(done, 40, f"cell {done}")
        make_progress(screen)(done, 40, f"cell {done}")

    assert log.getvalue().split("\n")[:2] == ["4 of 40 proven; last: cell 4", "8 of 40 proven; last: cell 8"]
    assert log.getvalue().count("\n") == 10
    assert "[##########          ] 20/40, about 10 s left cell 20" in screen.getvalue()
    assert screen.getvalue().endswith("\r\x1b[2K")


def test_a_terminal_says_about_how_long_it_still_takes() -> None:
    screen, clock = Terminal(), iter([0.0, 2.0, 30.0, 105.0])
    show = make_progress(screen, lambda: next(clock))
    for done, total in ((1, 12), (6, 12), (12, 120)):
        show(done, total, "cell")

    shown = [line.partition("]")[2] for line in screen.getvalue().split("\r\x1b[2K")[1:]]
    assert shown == [
        " 1/12, about 30 s left cell",
        " 6/12, about 30 s left cell",
        " 12/120, about 16 min left cell",
    ]
