"""The one exception for what the user can mend."""


class UserError(ValueError):
    """Bad input or settings; the message names what is wrong and what was expected, in one line.

    A ``ValueError``, as libraries in the manner of scikit-learn expect.
    """
