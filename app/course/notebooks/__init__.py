"""Converts chapters to Jupyter notebooks and back. Pure: takes and returns text."""
