"""Each test makes a fault happen and tells what the course does; tests/reliability.py has `behaviour`."""

from tests.brokers import cluster, healthy, home

__all__ = ["cluster", "healthy", "home"]
