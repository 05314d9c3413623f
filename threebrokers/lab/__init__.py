"""A lab, opened: its names, clients, programs and exercises."""
