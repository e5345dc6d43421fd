"""The path of a query, free of HTTP."""
