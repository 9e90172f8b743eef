"""The desk: what instructors and assistants see and do in their sections."""
