"""The stage before scoring that translates an exchange into English."""
