"""Decorators, options, errors and warnings: what a call needs beside the compiled program."""
