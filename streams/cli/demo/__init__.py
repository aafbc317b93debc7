"""`truthgate demo`: all of truthgate on this machine, without setup."""
