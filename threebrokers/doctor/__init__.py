"""The doctor: known troubles, each looked for by one function, which names what it found and the cure."""

from threebrokers.doctor.finding import Finding
from threebrokers.doctor.report import report
from threebrokers.doctor.run import examine

__all__ = ["Finding", "examine", "report"]
