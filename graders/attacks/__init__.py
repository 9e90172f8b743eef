"""Recorded attacks on the box, and a report of how they end on this installation."""
