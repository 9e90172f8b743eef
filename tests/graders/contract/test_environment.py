"""A misspelled setting is told, and the list of settings is that of the two readers."""

from app.settings import Settings
from graders.contract.environment import GRADER_SETTINGS, SITE_SETTINGS, find_unknown
from graders.settings import GraderSettings


def test_the_known_variables_are_the_fields_of_both_settings():
    assert set(Settings.model_fields) == SITE_SETTINGS
    assert set(GraderSettings.model_fields) == GRADER_SETTINGS


def test_a_misspelled_setting_is_told_with_the_one_that_is_meant():
    (line,) = find_unknown({"UNWIND_PROT": "80", "PATH": "/bin", "UNWIND_DATA": "x"})
    assert line == "UNWIND_PROT is no setting; did you mean UNWIND_PORT? See docs/settings.md"


def test_one_like_no_other_is_to_be_unset():
    assert find_unknown({"UNWIND_": ""}) == ("UNWIND_ is no setting; unset it. See docs/settings.md",)
