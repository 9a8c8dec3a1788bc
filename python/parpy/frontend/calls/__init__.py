"""Translates calls to surface IR, starting in `calls.py`; `intrinsics.py` lists the functions with a lowering."""
