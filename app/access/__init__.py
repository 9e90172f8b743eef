"""Who may do what: names and passwords of accounts, how long a session lasts, roles and their permissions."""
