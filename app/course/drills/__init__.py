"""Drills: questions about small programs that are drawn, run and asked afresh. Pure: takes texts and results."""
