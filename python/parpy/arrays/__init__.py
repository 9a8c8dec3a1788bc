"""What the arrays of parpy.buffer and parpy.cuda have in common."""
