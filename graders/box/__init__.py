"""Outside the box: confines a process. Knows no exercise."""
