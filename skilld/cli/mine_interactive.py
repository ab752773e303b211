"""`skilld mine --interactive`: the three steps, on a screen or by questions and answers, and what came of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skilld import console
from skilld.cli import common
from skilld.errors import Exit

if TYPE_CHECKING:
    from skilld.mining.options import Options, World
    from skilld.review.generate.generating import Generating


def run(options: Options, world: World) -> int:
    """Go through the steps and print what became of what was kept; `world` comes with a store, which is closed."""
    from skilld.cli.mine_report import brief
    from skilld.cli.terminal import ask, edit, has_screen

    steps = generating(options, world)
    if not has_screen():
        from skilld.review.generate.plain import PlainGenerate

        brief(PlainGenerate(steps, console.line, ask, edit).run())
        return Exit.OK
    from skilld.review.generate.app import GenerateApp

    app = GenerateApp(steps)
    brief(app.run() or [])
    return Exit.BUG if app.return_code else Exit.OK


def generating(options: Options, world: World) -> Generating:
    """Return the steps without a screen. They open the store for each call: the one in `world` is closed."""
    from skilld.review.generate.generating import Generating

    world.store.close()
    return Generating(options, world, common.store)
