"""What surrounds every handler: identity, course, the page's frame, limits, headers, errors in words."""
