"""The temperature at which a model's probabilities are true: one that is too sure gets more than 1."""

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

Logits = npt.NDArray[np.float32]

_COLDEST, _HOTTEST = 0.2, 10.0


def temperature(logits: Logits, labels: npt.NDArray[np.int64]) -> float:
    """Return what to divide logits by so that the labels surprise least."""

    def surprise(heat: float) -> float:
        told = log_softmax(logits / heat, axis=1)
        return -float(told[np.arange(len(labels)), labels].mean())

    return float(minimize_scalar(surprise, bounds=(_COLDEST, _HOTTEST), method="bounded").x)
