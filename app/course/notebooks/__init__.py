"""Chapters as Jupyter notebooks, both ways. Pure: takes and gives text."""
