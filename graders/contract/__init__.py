"""The words that website and worker share. pydantic and the standard library, nothing else."""
