"""Builds figures: a picture from the chapter's folder with its alternative text and caption."""

from app.course.blocks import Illustration
from app.course.language.directive_specs import FigureOptions
from app.course.language.draft import Draft
from app.course.language.options import read_options
from app.course.language.prose import Image
from app.course.language.tree import Directive, tokens_of


def build_figure(directive: Directive, name: str, draft: Draft) -> Illustration | None:
    options = read_options(directive.fence, FigureOptions, draft.report)
    caption = draft.prose.compact(tokens_of(directive.parts))
    if options is None:
        return None
    draft.prose.images.append(Image(directive.fence.line_of("file"), f"figures/{options.file}"))
    address = f"/chapters/{draft.slug}/figures/{options.file}"
    return Illustration(name, address, options.alt, caption, draft.where(directive.fence.line))
