"""Demos: a lab's experiment for an audience, step by step, on the brokers or from a recording."""
