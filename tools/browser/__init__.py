"""Chromium, and a JupyterLab in it as learners have it: for tests and for what authors look at."""
