"""The tape as steps: the graph's state after each step, and a sentence for each step."""
