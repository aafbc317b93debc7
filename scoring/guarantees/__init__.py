"""Ratings become thresholds with a promise: joined ratings, risk, tests, certificates, a watch; needs scipy.

A room of its own above the policy, since a worker decides by what it makes without having SciPy.
"""
