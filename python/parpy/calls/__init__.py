"""Decorators, options, errors and warnings: the parts of a call around the compiled program."""
