"""Translates the syntax tree of a function to surface IR, starting in `parse.py`. Nothing here runs a program."""
