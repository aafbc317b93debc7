"""The step before assessing that puts an exchange into English."""
