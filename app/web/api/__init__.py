"""The endpoints for scripts and forms: answers, predictions, drafts, runs, submissions, graphs, health."""
