"""Measuring the brokers on this machine."""
