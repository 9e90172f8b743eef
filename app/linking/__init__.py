"""Talking to other servers: who somebody is, and a school's grades. No SQL and no templates."""
