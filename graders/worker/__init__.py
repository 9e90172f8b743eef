"""The worker's process: opens the boxes, proves them, claims jobs and runs each in a free slot."""
