"""The website: it renders the course, stores learners' work, and never imports torch."""
