"""The tape as steps: where a graph stands after each, and what a step does in words."""
