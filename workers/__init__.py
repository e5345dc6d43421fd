"""The path of a document: extract -> chunk -> embed."""
