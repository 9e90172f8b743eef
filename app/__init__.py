"""The website: renders the course, keeps what learners do, and never imports torch."""
