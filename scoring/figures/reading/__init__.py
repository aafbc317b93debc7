"""The figures of a text: numbers, amounts, dates, and the data that lines of it make up."""
