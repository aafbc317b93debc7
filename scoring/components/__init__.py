"""Names of UI components (buttons, fields, menus, paths) in a text, marked and unmarked."""
