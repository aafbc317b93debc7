"""Pauses of sending: operators write them to the topic `controls`, and every worker follows it."""
