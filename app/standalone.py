"""Reads an exercise's folder and the course's licence, and makes of them a folder that needs no course."""

from app.course.files import may_be_read, read_exercise_files
from app.course.model import Course
from app.course.standalone import LICENCE, Standalone, make_standalone


def read_standalone(course: Course, name: str) -> Standalone:
    path = course.root / LICENCE
    licence = path.read_bytes() if may_be_read(path, course.root) else b""
    return make_standalone(course, name, read_exercise_files(course.exercises[name].folder), licence)
