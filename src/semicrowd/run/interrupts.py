"""Ctrl-C: the end of the process at once until something must be put in order, a KeyboardInterrupt from then on.

A KeyboardInterrupt can be lost while libraries are imported and a configuration is read: Python drops what is raised in
a weak reference's callback or a finaliser, and extension modules and parsers turn it into an error of their own.
"""

import os
import signal


def _exit(*_: object) -> None:
    os._exit(128 + signal.SIGINT)


def end_at_once() -> None:
    """From now on Ctrl-C ends this process with code 130, without a word; one that ignores it goes on to do so."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _exit)


def raise_again() -> None:
    """From now on Ctrl-C raises KeyboardInterrupt, where :func:`end_at_once` has changed that."""
    if signal.getsignal(signal.SIGINT) is _exit:
        signal.signal(signal.SIGINT, signal.default_int_handler)
