"""Optional translation of exchanges into English by deep-translator, limited and cached."""
