"""The pages that are made from the code: commands, settings, metrics, records, reasons and consumers."""
