"""Runs inside the box with learner code, so nothing it reports is trusted. Sent in as files, never imported."""
