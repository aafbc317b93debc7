"""The files of judging in batches: requests out, replies in, and the opinions that come of them."""
