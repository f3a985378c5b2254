"""Keys and passwords: sent, and never shown."""
