"""Drives the screens of `skilld mine --interactive` in this process with Textual's pilot."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from skilld.cli import mine, parser
from skilld.cli.mine import start_generation
from skilld.mining.proposing import CandidateResult
from skilld.review.generate_screen import GenerateApp
from skilld.review.generation import Generation
from support.review_pilot import Screen

SIZE = (140, 40)


def generation_steps(*arguments: str) -> Generation:
    """Return the generation as the command builds it for the home in HOME."""
    given = parser.build_parser("mine").parse_args(["mine", "--interactive", *arguments])
    return start_generation(mine._options(given), mine._world())


def run_generation(story: Callable[[Screen], Awaitable[None]], *arguments: str) -> list[CandidateResult] | None:
    """Run the steps on a screen, let `story` drive them, and return what they came to."""

    async def run() -> list[CandidateResult] | None:
        app = GenerateApp(generation_steps(*arguments))
        async with app.run_test(size=SIZE, notifications=True) as pilot:
            screen = Screen(app, pilot)
            await story(screen)
            if app.is_running:
                await screen.settle()
        return app.return_value

    return asyncio.run(run())
