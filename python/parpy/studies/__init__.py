"""Describes programs and searches for their mappings: parpy.explain, parpy.tune."""
