"""Stored runs to one self-contained HTML page, and to Markdown, LaTeX and figures for papers.

The package has another name than the function `ragmeter.report`, which an import of a module `report` would hide.
"""

#: The most rows on a page unless somebody says otherwise.
MAX_ROWS = 50_000
