"""Plans the runs that prove a course, and compares each result with what the text says. Pure."""
