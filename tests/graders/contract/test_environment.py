"""A misspelled setting is refused with the one that is meant; each program leaves the other's settings alone."""

from app.__main__ import COMPOSE_SETTINGS
from app.settings import Settings
from graders.contract.environment import find_misspelled, find_unknown
from graders.contract.settings import GraderSettings


def test_a_misspelled_setting_is_refused_with_the_one_that_is_meant():
    environment = {"UNWIND_PROT": "80", "PATH": "/bin", "UNWIND_DATA": "x"}

    (line,) = find_unknown(Settings.model_fields, environment)

    assert line == "UNWIND_PROT is not a setting; did you mean UNWIND_PORT? See docs/settings.md"


def test_one_like_no_other_is_to_be_unset():
    assert find_unknown({"data"}, {"UNWIND_": ""}) == ("UNWIND_ is not a setting; unset it. See docs/settings.md",)


def test_a_grader_refuses_what_resembles_a_setting_of_its_own():
    environment = {"UNWIND_PROFIL": "P2", "UNWIND_SLOT": "1", "UNWIND_SOMETHING": "x"}

    lines = find_misspelled(GraderSettings.model_fields, environment)

    assert [line.split(";")[1] for line in lines] == [
        " did you mean UNWIND_PROFILE? See docs/settings.md",
        " did you mean UNWIND_SLOTS? See docs/settings.md",
    ]


def test_a_grader_takes_none_of_the_websites_settings_for_a_misspelled_one():
    environment = dict.fromkeys(f"UNWIND_{name.upper()}" for name in {*Settings.model_fields, *COMPOSE_SETTINGS})

    assert find_misspelled(GraderSettings.model_fields, environment) == ()
