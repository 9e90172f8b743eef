"""Learning platforms: registering them, launches from them, choosing what they link to, and grades sent back."""
