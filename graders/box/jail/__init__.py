"""The zygote's own code: runs in the process that forks learners; standard library alone, and no payload read."""
