"""Names of buttons, fields, menus and paths in a text, marked and unmarked."""
