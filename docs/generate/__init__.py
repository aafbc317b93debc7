"""What is made from the code while developing: pages of reference, AsyncAPI, the chart's files, the site.

``python -m docs.generate`` writes all of it but the site, which ``make docs`` builds; tests compare the files
with the code. No part of the product.
"""
