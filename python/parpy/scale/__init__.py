"""Beyond one device: what blocks of iterations need of each other, and how arrays are partitioned by it."""
