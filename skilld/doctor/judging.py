"""Checks of what judges and tells: the back-end, the budget, notices. Pure."""

from __future__ import annotations

from skilld.classify.backends import OFFLINE
from skilld.doctor.values import Check, Model, Trouble, Verdict

_ASK = "To have it asked: skilld doctor --ask"


def back_end(model: Model | None) -> Check:
    """Return the check of the back-end; None where the settings are not understood."""
    name = "back-end"
    if model is None:
        return Check(name, Verdict.SKIP, "the settings are not understood")
    if model.lacks is not None:
        return Check(name, Verdict.FAIL, f"{model.name}: {model.lacks.what}", model.lacks.remedy)
    if isinstance(model.answer, Trouble):
        return Check(name, Verdict.FAIL, f"{model.name}: {model.answer.what}", model.answer.remedy)
    shown = f"{model.name}: {model.why}"
    if model.name == OFFLINE:
        return Check(name, Verdict.OK, shown, model.found[0] if model.found else "")
    if model.answer is None:
        return Check(name, Verdict.OK, f"{shown}; it was not asked", _ASK)
    return Check(name, Verdict.OK, f"{shown}; asked just now, it answered{model.answer}")


def budget(spent: str) -> Check:
    """Return the check of the budget; `spent` says which limit was reached."""
    if spent:
        return Check(
            "budget", Verdict.WARN, f"it is spent: {spent}; what is due waits", "skilld config set budget.calls NUMBER"
        )
    return Check("budget", Verdict.OK, "something is left of it today")


def notices(why_not: str | None) -> Check:
    """Return the check of desktop notices: None where none are wanted, else why none can be shown."""
    if why_not is None:
        return Check("notices", Verdict.SKIP, "none are wanted")
    if why_not:
        return Check("notices", Verdict.WARN, why_not, "What waits is shown by: skilld status")
    return Check("notices", Verdict.OK, "nothing stands in their way")
