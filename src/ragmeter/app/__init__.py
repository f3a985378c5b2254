"""The local web app: pages over the runs of a folder. `ragmeter app` serves it."""
