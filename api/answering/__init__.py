"""Answers that a language model writes over numbered quotes, and the check of every word it sends."""
