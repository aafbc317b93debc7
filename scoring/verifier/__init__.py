"""The verifier: a model of one's own choice that tells whether a passage supports a claim."""
