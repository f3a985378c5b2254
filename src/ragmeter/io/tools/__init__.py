"""Files of other tools: where they have what the table needs."""
