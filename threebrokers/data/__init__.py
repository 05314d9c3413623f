"""The flights of 2013, and the topics that hold them."""
