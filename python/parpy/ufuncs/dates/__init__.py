"""Universal functions of dates and durations: the same functions on the integers that NumPy stores."""
