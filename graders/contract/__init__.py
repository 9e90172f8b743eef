"""The words that website and worker share. pydantic with its settings, the standard library, and nothing else."""
