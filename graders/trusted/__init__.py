"""Outside the box: draws cases, reads answers with suspicion, judges, and words the findings."""
