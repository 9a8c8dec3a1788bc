"""Arguments of launches: which signature takes them, of what kinds they are, and how they get to the device."""
