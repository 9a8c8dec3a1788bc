"""Functions of dates and durations as functions of the integers that NumPy stores."""
