"""The syntax tree of a function becomes surface IR: `parse.py` first. Nothing here runs a program."""
