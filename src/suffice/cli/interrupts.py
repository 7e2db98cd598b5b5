"""Ctrl-C and SIGTERM: a command ends without a traceback, with its files as they were, and returns 128 + the signal."""

import signal
from types import FrameType

NUMBERS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """The signal that the running command has received, and whether signals still come in time.

    They come too late from when a command writes its file: after that it has done what it should, and must not return
    the code of an interrupted one, after which a caller would run it again.
    """

    def __init__(self) -> None:
        self.received: int | None = None
        self.is_late = False

    def watch(self) -> None:
        """Turn signals into `KeyboardInterrupt`, unless they are ignored, as in the background of a shell."""
        for number in NUMBERS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._handle)

    def unwatch(self) -> None:
        """Let signals end the process at once: nothing is left to restore."""
        for number in NUMBERS:
            if signal.getsignal(number) == self._handle:
                signal.signal(number, signal.SIG_DFL)

    def code(self, error: BaseException) -> int | None:
        """Return the exit code if an error is due to a signal; None if it is not."""
        if self.received is not None:
            return 128 + self.received
        return 128 + signal.SIGINT if isinstance(error, KeyboardInterrupt) else None

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if not self.is_late:
            self.received = number
            raise KeyboardInterrupt


interrupts = Interrupts()
