"""What scripts and forms send to: answers, predictions, drafts, runs, submissions, graphs, health."""
