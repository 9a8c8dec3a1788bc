"""Beyond one device: halos of blocks of iterations, partitioned arrays, and calls that several devices share."""
