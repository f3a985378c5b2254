"""Compare: is the candidate better, by how much, where, why, and which rows. The app and the report show the same.

`view.py` has what is shown; each other module is one part of the page, a function of the view.
"""
