"""Calls on several devices: halos of blocks of iterations, partitioned arrays, and engines that share a call."""
