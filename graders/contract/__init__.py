"""The types that website and worker share. Imports only pydantic, pydantic-settings and the standard library."""
