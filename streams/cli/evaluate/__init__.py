"""`truthgate evaluate`: the tables of the paper for files of rated answers."""
