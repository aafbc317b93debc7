"""The verifier: an optional model that predicts whether a passage supports a claim."""
