"""The ground floor: what a document, a locator, a chunk and a failure is. Imports nothing of ours."""

__version__ = "0.1.0"
