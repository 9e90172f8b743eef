"""What a learner's history implies: progress on the ladder, calibration, review. Pure."""
