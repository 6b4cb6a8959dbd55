"""Ctrl-C, kill, a closed terminal: the process ends at once until something must be put in order; then a
KeyboardInterrupt.

A KeyboardInterrupt can be lost while libraries are imported and a configuration is read: Python drops what is raised in
a weak reference's callback or a finaliser, and extension modules and parsers turn it into an error of their own.
"""

import os
import signal
import threading
import time
from typing import Any, NoReturn

#: Signal → what Python does of itself.
_SIGNALS: dict[signal.Signals, Any] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGHUP: signal.SIG_DFL,  # a closed terminal; nohup ignores it
}


def _exit(number: int, *_: object) -> NoReturn:
    os._exit(128 + number)


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def end_at_once() -> None:
    """From now on Ctrl-C ends this process with code 130, kill with 143, a closed terminal with 129, without a word.

    One that ignores them, or does something else already, goes on to do so.
    """
    for number, usual in _SIGNALS.items():
        if signal.getsignal(number) is usual:
            signal.signal(number, _exit)


def raise_again() -> None:
    """From now on these signals raise KeyboardInterrupt, where :func:`end_at_once` has changed what they do."""
    for number in _SIGNALS:
        if signal.getsignal(number) is _exit:
            signal.signal(number, _interrupt)


def end_with(parent: int) -> None:
    """From now on this process ends when its parent has gone, which it would otherwise wait for or work for in vain.

    The parent says who it is: it may be gone before this process has found out by itself.
    """

    def wait() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
