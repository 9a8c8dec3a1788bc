"""Arguments of launches: the choice of a signature, the kinds of arguments, and the copies to the device."""
