"""Works out how a chat page is read, from what was new on it after a few questions."""
