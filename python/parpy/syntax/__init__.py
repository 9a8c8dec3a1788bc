"""Analyses and rewrites the text of a user's function: its place, names, annotations and paths."""
