"""The course language: Markdown with directives to blocks, each mistake at its line. Pure."""
