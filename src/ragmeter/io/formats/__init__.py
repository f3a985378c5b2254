"""Files and frames that have a form of their own."""
