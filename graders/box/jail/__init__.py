"""The code of the processes that fork and jail learner code. It uses only the stdlib and never reads a payload."""
