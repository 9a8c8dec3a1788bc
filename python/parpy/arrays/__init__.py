"""Code that the arrays of parpy.buffer and parpy.cuda share."""
