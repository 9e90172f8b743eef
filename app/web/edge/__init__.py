"""What surrounds every handler: who asks, which course, the frame of a page, limits, headers, errors in words."""
