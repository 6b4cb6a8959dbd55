"""Whether Ctrl-C, kill and a closed terminal end the process at once, or raise KeyboardInterrupt.

They end it at once after :func:`end_at_once`, until :func:`raise_again`; a KeyboardInterrupt lets a run save its files.

A KeyboardInterrupt can be lost while libraries are imported and a configuration is read: Python drops exceptions in the
callback of a weak reference or in a finaliser, and extension modules and parsers turn them into errors of their own.
"""

import os
import signal
import threading
import time
from functools import cache
from typing import Any, NoReturn

#: Signal → its default handler in Python.
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
    """From now on Ctrl-C ends this process with code 130, kill with 143, a closed terminal with 129, without a message.

    A signal that is ignored, or that has a handler of its own already, is left as it is.
    """
    for number, usual in _SIGNALS.items():
        if signal.getsignal(number) is usual:
            signal.signal(number, _exit)


def raise_again() -> None:
    """From now on the signals that :func:`end_at_once` has changed raise KeyboardInterrupt."""
    for number in _SIGNALS:
        if signal.getsignal(number) is _exit:
            signal.signal(number, _interrupt)


@cache
def end_with(parent: int) -> None:
    """From now on this process ends when its parent process has ended, since nobody would use its results.

    ``parent`` is the process id of the parent. The parent should pass it on, since it may have ended before this
    process calls ``os.getppid()``.
    """

    def wait() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def end_with_dvc() -> None:
    """From now on this stage of the pipeline ends when DVC has ended, so that it does not run beside a later one."""
    if "DVC_STAGE" in os.environ:
        end_with(os.getppid())
