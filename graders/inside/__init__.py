"""Inside the box, beside learner code: its word is never trusted. Sent in as files, imported by nothing."""
