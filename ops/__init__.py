"""Command line, private services, evaluation and benchmarks."""
