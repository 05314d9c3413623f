"""The doctor: known troubles, each looked for by one function, which names what it found and the cure."""

from threebrokers.doctor.examination import examine
from threebrokers.doctor.finding import Finding
from threebrokers.doctor.report import report

__all__ = ["Finding", "examine", "report"]
