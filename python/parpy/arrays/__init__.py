"""The common operations of the arrays of parpy.buffer and parpy.cuda."""
