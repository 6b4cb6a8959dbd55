"""The one exception that means "the user can mend this"."""


class UserError(Exception):
    """Bad input: one clear line that names file, row, column and what was expected.

    The command line prints it as ``error: …`` and exits with code 2, without a traceback.
    """
