"""Language models to ask, by a judge or as a system: one file for each wire format, and their prices."""
