"""Programs: cells that run as operating-system processes of their own."""

from threebrokers.program.program import Program
from threebrokers.program.programs import Programs

__all__ = ["Program", "Programs"]
