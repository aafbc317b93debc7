"""The texts of a case, made ready to be shown to a model: cleaned, masked, shortened, fenced."""
