"""CSV and TSV: a strict reader, a quick one for the plain case, and parts of large files."""
