"""Each template and its dataclass agree: no variable without a field, no field that nothing shows."""

import dataclasses
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from jinja2 import Environment, FileSystemLoader, nodes

from app import web
from app.web.edge import frame
from app.web.edge.rendering import TEMPLATES

ENVIRONMENT = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True)

MODULES = [
    importlib.import_module(found.name)
    for found in pkgutil.walk_packages(web.__path__, "app.web.")
    if not found.ispkg
]


def with_template(module: ModuleType) -> Iterator[Any]:
    for _, found in inspect.getmembers(module, inspect.isclass):
        if found.__module__ == module.__name__ and isinstance(getattr(found, "template", None), str):
            yield found


VIEWS = [found for module in MODULES for found in with_template(module)]
PAGES = [view for view in VIEWS if view.template.endswith(".html")]
BLOCKS = [view for view in VIEWS if not view.template.endswith(".html")]


def parse(name: str) -> nodes.Template:
    source, _, _ = ENVIRONMENT.loader.get_source(ENVIRONMENT, name)  # type: ignore[union-attr]
    return ENVIRONMENT.parse(source)


def other_names(variable: str, template: nodes.Template) -> set[str]:
    """The names that `{% set name = variable %}` gives it, because the name itself is rebound for an include."""
    assigned = [node for node in template.find_all(nodes.Assign) if getattr(node.node, "name", "") == variable]
    return {node.target.name for node in assigned if isinstance(node.target, nodes.Name)}


def attributes_of(variable: str, node: nodes.Node) -> Iterator[str]:
    """Attributes read of a variable, in what a template extends and includes too, unless it is rebound there."""
    if isinstance(node, nodes.Getattr) and isinstance(node.node, nodes.Name) and node.node.name == variable:
        yield node.attr
    if isinstance(node, nodes.Assign) and isinstance(node.node, nodes.Name) and node.node.name == variable:
        return  # its other name is followed where the template begins
    if isinstance(node, nodes.Template):
        for other in other_names(variable, node):
            yield from attributes_of(other, node)
    if isinstance(node, nodes.Include | nodes.Extends) and isinstance(node.template, nodes.Const):
        yield from attributes_of(variable, parse(node.template.value))
    if isinstance(node, nodes.For) and isinstance(node.target, nodes.Name) and node.target.name == variable:
        yield from attributes_of(variable, node.iter)
        return
    if isinstance(node, nodes.With) and any(getattr(target, "name", "") == variable for target in node.targets):
        for value in node.values:
            yield from attributes_of(variable, value)
        return
    for child in node.iter_child_nodes():
        yield from attributes_of(variable, child)


def fields_of(view: type) -> set[str]:
    return {field.name for field in dataclasses.fields(view)}


def properties_of(view: type) -> set[str]:
    return {name for name, member in vars(view).items() if isinstance(member, property)}


SHARED = {"base.html", "section_base.html", "section_fields.html", "section_head.html"}
"""What pages extend or include."""


def test_every_kind_of_page_and_block_is_looked_at() -> None:
    assert {view.template for view in PAGES} == {path.name for path in TEMPLATES.glob("*.html")} - SHARED
    assert {view.template for view in BLOCKS} <= {path.stem for path in (TEMPLATES / "blocks").iterdir()}


@pytest.mark.parametrize("view", PAGES, ids=lambda view: view.__name__)
def test_a_page_and_its_template_agree(view: type) -> None:
    read = set(attributes_of("page", parse(view.template)))  # type: ignore[attr-defined]

    assert read - fields_of(view) == set()
    assert fields_of(view) - read == set()


@pytest.mark.parametrize("view", BLOCKS, ids=lambda view: view.__name__)
def test_a_block_and_its_template_agree(view: type) -> None:
    read = set(attributes_of("block", parse(f"blocks/{view.template}.html")))  # type: ignore[attr-defined]

    assert read - fields_of(view) - properties_of(view) - {"template"} == set()
    assert fields_of(view) - read == set()


def test_the_frame_has_no_field_that_nothing_shows() -> None:
    source = (TEMPLATES / "base.html").read_text(encoding="utf-8")

    assert {name for name in fields_of(frame.Frame) if f"page.frame.{name}" not in source} == set()


def test_no_template_has_inline_style_or_script() -> None:
    found = [
        str(path)
        for path in TEMPLATES.rglob("*.html")
        if any(bad in path.read_text(encoding="utf-8") for bad in (" style=", "<style", " onclick=", "javascript:"))
    ]

    assert found == []
