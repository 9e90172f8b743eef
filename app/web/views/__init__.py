"""The templates' data: the course and a learner's history, as plain dataclasses. No request, no decision."""
