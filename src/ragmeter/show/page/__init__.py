"""What the pages of the app and of the report are made of: elements, parts, charts and their style."""
