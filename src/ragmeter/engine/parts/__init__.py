"""An evaluation in parts, by many workers."""
