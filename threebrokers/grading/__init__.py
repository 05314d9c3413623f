"""Grades notebooks that were handed in: each by itself on fresh brokers, and none of them is trusted."""
