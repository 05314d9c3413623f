"""Predictions: chosen before the run, compared after it."""

from threebrokers.predictions.prediction import VERDICT, Prediction, Verdict

__all__ = ["VERDICT", "Prediction", "Verdict"]
