"""Words that take a rule back: they name it, say that it holds no longer, and propose nothing of their own."""

from __future__ import annotations

import pytest

from skilld.classify.backends import OFFLINE, Spec
from skilld.classify.backends.offline import Offline
from skilld.classify.offline.removals import removal
from skilld.classify.verify import Verdict, VerifiedUpdate
from skilld.jobs.taken_back import find_forgotten, without_taking_back
from skilld.protocol import AnalyseBatch, BatchJob, PastLearning
from skilld.types import Evidence, Kind, Message, Op, SkillDoc, Update
from support.proposals import make_proposal
from support.rows import for_each

LINES = {
    "en": "Always run prettier before every commit.",
    "de": "Vor jedem Commit immer prettier laufen lassen.",
    "fr": "Lance toujours prettier avant chaque commit.",
    "es": "Ejecuta siempre prettier antes de cada commit.",
    "pt": "Sempre rode o prettier antes de cada commit.",
    "it": "Esegui sempre prettier prima di ogni commit.",
    "nl": "Draai altijd prettier voor elke commit.",
}
BACK = """
de|das mit prettier vor jedem Commit vergiss bitte wieder
de|du musst prettier nicht mehr vor jedem Commit laufen lassen
de|das mit prettier kannst du vergessen
de|prettier brauchst du nicht mehr
de|lass prettier künftig weg
de|prettier kannst du dir ab jetzt sparen
de|nimm die Regel mit prettier wieder raus
en|forget the prettier thing
en|you can drop prettier again
en|leave prettier out from now on
en|the prettier rule can go
en|we don't need prettier any more
en|scrap the prettier thing please
en|that prettier thing, forget it again
en|you no longer need to run prettier
fr|oublie le truc avec prettier
fr|tu n'as plus besoin de lancer prettier avant chaque commit
fr|tu peux enlever prettier à nouveau
es|olvida lo de prettier
es|ya no hace falta ejecutar prettier antes de cada commit
pt|não precisa mais rodar o prettier antes de cada commit
it|non serve più eseguire prettier prima di ogni commit
nl|vergeet dat met prettier
nl|je hoeft prettier niet meer te draaien voor elke commit
"""
STANDS = """
de|vergiss prettier nicht
de|prettier läuft nicht mehr
de|lass prettier nochmal laufen
de|prettier heute nicht
en|don't forget prettier
en|you forgot prettier again
en|why did you forget prettier?
en|prettier is broken, forget it for now
en|prettier doesn't work any more
en|remove the prettier cache
en|skip prettier this time
fr|prettier ne marche plus
es|prettier ya no funciona
nl|prettier werkt niet meer
"""


def _pairs(table: str) -> list[tuple[str, str]]:
    return [(LINES[line.partition("|")[0]], line.partition("|")[2]) for line in table.splitlines() if line]


def _skill(line: str) -> SkillDoc:
    return SkillDoc(
        1, "CLAUDE.md", "/x/CLAUDE.md", f"# Rules\n\n- Keep commits small.\n- {line}\n- Never push to main.\n"
    )


def _batch(*said: str) -> list[Message]:
    texts = [("fix it", 1), *((one, turn) for turn, one in enumerate(said, 2))]
    return [part for text, turn in texts for part in (Message(text, turn), Message("Done."))]


@for_each(("line", "said"), _pairs(BACK))
def test_a_rule_is_taken_back_in_its_batch_and_in_its_file(line: str, said: str) -> None:
    assert Offline().detect(_batch(line, said), []) == []
    skill = _skill(line)
    (gone,) = Offline().detect(_batch(said), [skill])
    assert (gone.kind, gone.quote) == (Kind.REMOVE_STEP, said)
    (operation,) = Offline().edit(gone, skill)
    assert (operation.op, operation.anchor) == (Op.DELETE, f"- {line}")


@for_each(("line", "said"), _pairs(STANDS))
def test_reminders_reports_and_words_for_once_take_nothing_back(line: str, said: str) -> None:
    assert [one.change for one in Offline().detect(_batch(line, said), [])] == [line]
    assert removal(said, _skill(line)) is None


def test_words_that_may_mean_several_lines_remove_none() -> None:
    skill = _skill("Run prettier in CI.\n- Run prettier before every commit.")
    assert removal("forget the prettier thing", skill) is None


def test_a_ban_is_no_removal() -> None:
    heard = Offline().detect(_batch("no more prettier before commits"), [_skill(LINES["en"])])
    assert [(one.change, one.kind) for one in heard] == [("No more prettier before commits.", Kind.CORRECTION)]


def test_words_that_only_take_back_an_open_proposal_are_no_learning() -> None:
    rule = Evidence("t1", "from now on always run prettier before every commit")
    one = make_proposal(path="/p/CLAUDE.md", repo="/p", summary=LINES["en"], evidence=(rule,))
    batch = BatchJob(batch="b2", cwd="/p", home="/h", turns=("t2", "t3"))
    job = AnalyseBatch(batch=batch, closed_at="", backend=Spec(OFFLINE), open=(one,))
    back = Update(None, "", "Leave prettier out.", "", Kind.PREFERENCE, 1, "leave prettier out from now on")
    other = Update(None, "", "Sign the tag.", "", Kind.PREFERENCE, 2, "always sign the tag")
    verdict = without_taking_back(Verdict(learned=((back, "no file"), (other, "no file"))), job)
    assert verdict.learned == ((other, "no file"),)
    assert verdict.dropped == ("it only takes back a rule that was waiting, or you took it back later",)


@pytest.mark.parametrize(
    "waits", ["You don't have to run prettier before every commit any more.", "Das mit prettier vergessen wir wieder."]
)
def test_words_that_take_a_rule_back_again_do_not_take_back_what_took_it_back(waits: str) -> None:
    """The earlier words were no proposal, so the rule still stands: it is not the words that end."""
    kept = PastLearning("t1", waits, waits, "s1", "l1")
    batch = BatchJob(batch="b2", cwd="/p", home="/h", turns=("t2",))
    job = AnalyseBatch(batch=batch, closed_at="", backend=Spec(OFFLINE), waiting=(kept,))
    gone = Update(1, "", "Forget the prettier rule.", "", Kind.REMOVE_STEP, 1, "forget the rule about prettier")
    verdict = Verdict(proposed=(VerifiedUpdate(gone),))
    assert without_taking_back(verdict, job) == verdict
    assert list(find_forgotten(job, [Message("forget the rule about prettier", 1, turn_key="t2")])) == []
