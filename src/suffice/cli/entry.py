"""The start of the command line. Signals are watched before anything else is imported, which takes a while."""

from suffice.cli.interrupts import interrupts


def main() -> None:
    """Run the command line."""
    interrupts.watch()
    try:
        from suffice.cli.app import app

        app(prog_name="suffice")
    except BaseException as error:
        code = interrupts.code(error)
        if code is None:
            raise
        raise SystemExit(code) from None
    finally:
        interrupts.unwatch()
