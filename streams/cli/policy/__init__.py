"""`truthgate policy`: fitted policies, from ratings to what workers decide by."""
