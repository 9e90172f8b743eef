"""Predictions and questions: read, filled with fresh numbers, marked, checked. Pure."""
