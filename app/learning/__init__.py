"""Derived from a learner's history: progress on the ladder, calibration, review. Pure."""
