"""Lowwater tells Keras users where their memory went, and gives it back."""

from lowwater.instrumentation.explicit import boundary
from lowwater.mend import mend

__version__ = "0.1.0.dev0"
__all__ = ["__version__", "boundary", "mend"]
