"""Talking to other servers about who somebody is. No SQL and no templates."""
