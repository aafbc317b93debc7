"""The pages that are made from the code: commands, records, reasons, consumers, and AsyncAPI.

``python -m website.reference`` writes them; a test compares them with the code.
"""
