"""Proves a course: runs what its text promises through the graders, and keeps the evidence."""
