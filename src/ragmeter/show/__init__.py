"""What a person sees: numbers, sentences and tables; the terminal, Markdown, LaTeX, JUnit and the HTML page."""
