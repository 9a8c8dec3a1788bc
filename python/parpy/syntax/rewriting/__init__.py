"""Statements of Python that become simpler ones before a function is compiled."""
