"""The zygote's own code: it runs in the process that forks learners, imports the standard library alone, reads no payload."""
