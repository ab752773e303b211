"""What fails while the review is open, such as reading the database, becomes a message and does not end it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from textual import work
from textual.widget import Widget
from textual.worker import Worker, get_current_worker

from skilld.errors import SkilldError

P = ParamSpec("P")
W = TypeVar("W", bound=Widget)


def error_text(error: SkilldError) -> str:
    """Return an error as lines: what failed and why, then what to do about it."""
    return "\n".join(filter(None, (f"{error.title}: {error.cause}" if error.cause else error.title, error.remedy)))


def shows_errors(act: Callable[Concatenate[W, P], None]) -> Callable[Concatenate[W, P], None]:
    """Let a method show our errors as messages."""

    @wraps(act)
    def guarded(widget: W, /, *values: P.args, **named: P.kwargs) -> None:
        app: Any = widget.app  # a KeysApp
        try:
            act(widget, *values, **named)
        except SkilldError as error:
            app.show_error(error)

    return guarded


def on_thread(
    group: str, *, exclusive: bool = False
) -> Callable[[Callable[Concatenate[W, P], None]], Callable[Concatenate[W, P], Worker[None]]]:
    """Run a method on a thread, and show our errors as messages unless it was cancelled."""

    def decorate(act: Callable[Concatenate[W, P], None]) -> Callable[Concatenate[W, P], Worker[None]]:
        @wraps(act)
        def guarded(widget: W, /, *values: P.args, **named: P.kwargs) -> None:
            app: Any = widget.app  # a KeysApp
            try:
                act(widget, *values, **named)
            except SkilldError as error:
                if not get_current_worker().is_cancelled:
                    app.call_from_thread(app.show_error, error)

        return work(thread=True, group=group, exclusive=exclusive)(guarded)

    return decorate
