"""Where everything stands: what is visible, how large it is, where it goes."""
