"""Spark: a session with the course's jars, its gateway, and the flights as frames."""
