"""Runs one job from start to end: exercise, cases, box, judge."""
