"""The website's own SQL: learners, answers, drafts, history, and the migrations."""
