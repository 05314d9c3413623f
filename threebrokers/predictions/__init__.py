"""Predictions: chosen before the run, compared after it."""

from threebrokers.predictions.prediction import Prediction, Verdict

__all__ = ["Prediction", "Verdict"]
