"""Functions of which Python runs a part, between compiled ones."""
