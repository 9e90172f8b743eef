"""The pages, one module each; one dataclass per template."""
