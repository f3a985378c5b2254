"""The report: runs as a self-contained HTML page, and as Markdown, LaTeX and figures for papers."""

#: The default of the most rows on a page.
MAX_ROWS = 50_000
#: Who a page is for: an owner gets it without the appendix.
ENGINEER, OWNER = AUDIENCES = ("engineer", "owner")
