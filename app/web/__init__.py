"""Pages and endpoints, one module each; one dataclass per template."""
