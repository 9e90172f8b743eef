"""Builds figures: a picture of the chapter's folder with its words and its caption."""

from app.course.blocks import Illustration
from app.course.directives import FigureOptions
from app.course.draft import Draft
from app.course.options import read_options
from app.course.prose import Image
from app.course.tree import Directive, tokens_of


def build_figure(directive: Directive, name: str, draft: Draft) -> Illustration | None:
    options = read_options(directive.fence, FigureOptions, draft.report)
    caption = draft.prose.compact(tokens_of(directive.parts))
    if options is None:
        return None
    line = next(option.line for option in directive.fence.options if option.name == "file")
    draft.prose.images.append(Image(line, f"figures/{options.file}"))
    address = f"/chapters/{draft.slug}/figures/{options.file}"
    return Illustration(name, address, options.alt, caption, draft.where(directive.fence.line))
