"""Replies that were paid for: recorded, found again, counted."""
