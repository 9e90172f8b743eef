"""What has to be run to prove a course, and whether each result keeps what the text says. Pure."""
