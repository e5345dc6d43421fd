"""Evaluation: how well the search finds what is known to be there, and refuses what is not.

`run` is its table of contents. Search is measured through `api.retrieval.search.Searcher`, the code that answers
users; chunking is compared by exact search over the same model's vectors.
"""
