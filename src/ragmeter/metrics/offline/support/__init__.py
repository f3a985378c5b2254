"""The support model: whether passages support a claim or an answer."""
