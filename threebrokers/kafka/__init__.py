"""Talking to brokers: values, clients, the poller that asks each broker by itself. No process, no lab."""
