"""Why a consumer gets nothing."""

from threebrokers.why_empty.answer import Answer
from threebrokers.why_empty.explain import explain

__all__ = ["Answer", "explain"]
