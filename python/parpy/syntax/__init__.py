"""The text of a user's function: where it stands, its names, annotations and paths."""
