"""Pages and endpoints, one module each; one dataclass a template."""
