"""Loops in which lists, dicts and sets grow."""
