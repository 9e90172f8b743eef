"""Limits on how much of a program the tracer records. Beyond a cap it records less; it never stops the program."""

from dataclasses import dataclass, fields
from typing import Any

CEILINGS = {"max_document_bytes": 2**26, "max_packed_bytes": 2**26}
"""Where a caller may ask for more than the default; no other cap rises above its own."""


@dataclass(frozen=True)
class Caps:
    """Counts, not times. Steps have values up to `valued_steps`, norms up to `normed_steps`, then only shapes."""

    max_nodes: int = 200_000
    max_events: int = 40_000
    max_cuts: int = 2_000
    max_calls_logged: int = 2_000_000
    valued_steps: int = 40_000
    normed_steps: int = 40_000
    max_value_items: int = 12
    max_text: int = 200
    max_values: int = 400
    max_gradients: int = 8_000
    max_message: int = 1_000
    max_document_bytes: int = 3_500_000
    max_packed_bytes: int = 500_000

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "Caps":
        """Read the caps that a caller names; unknown names are ignored, and none is raised above its ceiling."""
        known = {field.name: getattr(cls, field.name) for field in fields(cls)} | CEILINGS
        return cls(**{name: max(0, min(int(given[name]), most)) for name, most in known.items() if name in given})
