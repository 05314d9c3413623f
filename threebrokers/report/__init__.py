"""The learner's progress as a page: from files of this machine, for this machine."""

from threebrokers.report.collect import Lab, Repeat, Report, collect
from threebrokers.report.page import fragment, page, words

__all__ = ["Lab", "Repeat", "Report", "collect", "fragment", "page", "words"]
