"""What the box's interpreter loads before a learner's code: every driver that a run can ask for."""

from graders.box.interface import Driver


def test_every_driver_that_a_run_can_ask_for_is_loaded() -> None:
    import start

    assert set(start.DRIVERS) == set(Driver)
