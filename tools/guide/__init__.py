"""The teacher's guide: each lab with its minutes, every exercise with all its answers."""
