"""The submissions' rows: the one door between website and worker."""
