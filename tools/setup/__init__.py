"""Setting everything up. Only the standard library: it runs before anything is installed."""
