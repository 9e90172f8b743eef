"""The worker's process: opens and tests the boxes, claims jobs, and runs each in a free slot."""
