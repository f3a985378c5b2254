"""Charts as inline SVG.

Positions are percentages of the drawing, so that it takes any width while its marks and texts keep their size. Names,
figures and ticks are HTML around it. Colours come from classes in `style.css`: a policy forbids styles in attributes.
"""
