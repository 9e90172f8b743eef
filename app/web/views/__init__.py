"""What templates see: the course and what a learner did, as plain data. No request, no decision."""
