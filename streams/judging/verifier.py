"""The check of the verifier that the settings name."""

from __future__ import annotations

from scoring.verifier.onnx import open_verifier
from scoring.verifier.verifying import NoVerifier
from streams.settings import Settings, WrongSettings


def check_verifier(settings: Settings) -> None:
    """Open the verifier, if one is named, and let go of it; raises WrongSettings where it cannot be."""
    folder = settings.scoring.verifier.folder
    try:
        if folder is not None:
            open_verifier(folder)
    except NoVerifier as error:
        raise WrongSettings(f"scoring.verifier.folder: {' '.join(str(error).split())}") from error
