"""A line of the log, for people and for collectors, names what it is about."""

import json
import logging
import subprocess
import sys

from graders.contract.log_lines import JsonLine, TextLine, log_about


def make_record(message: str, *values: object, fault: BaseException | None = None) -> logging.LogRecord:
    about = None if fault is None else (type(fault), fault, fault.__traceback__)
    record = logging.LogRecord("any", logging.WARNING, "file", 1, message, values, about)
    record.created, record.msecs = 1_000_000_000.25, 250.0
    return record


def test_a_line_has_its_time_in_utc_its_level_and_its_program():
    line = TextLine("website").format(make_record("the %s is full", "disk"))

    assert line == "2001-09-09T01:46:40.250Z WARNING website: the disk is full"


def test_a_line_ends_with_the_submission_and_the_request_that_it_is_about():
    with log_about(submission="5a", request="77"):
        inside = TextLine("grader").format(make_record("late"))

    assert inside.endswith(" grader: late [submission 5a, request 77]")
    assert TextLine("grader").format(make_record("late")).endswith(" grader: late")


def test_a_json_line_is_one_object_with_its_traceback_inside():
    try:
        raise ValueError("bad\nvalue")
    except ValueError as fault:
        record = make_record("the %s\nis full", "disk", fault=fault)
    with log_about(submission="5a", request="77"):
        line = JsonLine("grader").format(record)

    assert "\n" not in line
    read = json.loads(line)
    assert read.pop("pid") > 0
    assert read.pop("exception").endswith("ValueError: bad\nvalue")
    assert read == {
        "time": "2001-09-09T01:46:40.250Z",
        "level": "WARNING",
        "process": "grader",
        "message": "the disk\nis full",
        "submission": "5a",
        "request": "77",
    }


def test_what_python_itself_writes_is_json_too():
    code = (
        "import warnings; from graders.contract.log_lines import LogForm, set_up_logging\n"
        "set_up_logging('grader', 20, LogForm.JSON); warnings.warn('old'); 1 / 0"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    lines = [json.loads(line) for line in ended.stderr.splitlines()]

    assert ended.returncode == 1
    assert ["old" in lines[0]["message"], "ZeroDivisionError" in lines[1]["exception"]] == [True, True]
