"""Pages about people: signing in and out, one's own account, sections, and the operator's list of accounts."""
