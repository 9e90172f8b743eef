"""Lets the tests of every room import picture_parts, which is beside this file."""
