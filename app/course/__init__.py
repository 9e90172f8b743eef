"""Chapters as data: Markdown to blocks, questions and claims, and the check of a course's content."""
