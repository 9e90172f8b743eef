"""Runs outside the box: draws cases, reads answers without trusting them, judges them, and words the findings."""
