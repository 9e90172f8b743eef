"""The layout: what is visible, how large it is, and where it goes."""
