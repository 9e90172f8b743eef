"""Every operation's formula, by the name of its backward node; "MaxBackward" stands for all its overloads."""

from .elementwise import ELEMENTWISE
from .formula import Builder
from .layers import LAYERS
from .losses import LOSSES
from .moves import MOVES
from .products import PRODUCTS
from .reductions import REDUCTIONS

BUILDERS: dict[str, Builder] = {**ELEMENTWISE, **REDUCTIONS, **PRODUCTS, **MOVES, **LOSSES, **LAYERS}
