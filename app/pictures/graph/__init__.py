"""A trace as a graph to read: checked, folded, with words and formulas for its nodes."""
