"""Pages about people: signing in and out, one's own account, and the operator's list of accounts."""
