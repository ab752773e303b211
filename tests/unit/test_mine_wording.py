"""Lines in a model's words: each word must be the person's, or of two sessions."""

from __future__ import annotations

from skilld.mining.values import Part, PartKind, Proof
from skilld.mining.wording import Sources, is_literal, line_doubt, title_problem, wording_problem
from support.rows import for_each


def said(text: str, session: str = "a") -> Part:
    return Part(PartKind.SAID, text, (Proof(session, "t", text),))


def did(text: str, *sessions: str, sort: PartKind = PartKind.COMMAND) -> Part:
    return Part(sort, text, tuple(Proof(one, "t", text, observed=True) for one in sessions))


ASKED = said("commit and update the changelog with a small sentence")
TASK = [
    ASKED,
    said("never push to the release branch"),
    did('git commit -m "{{message}}"', "a", "b"),
    did("CHANGELOG.md: Unreleased; Added", "a", sort=PartKind.EDIT),
    did("CHANGELOG.md: Unreleased; Fixed", "b", sort=PartKind.EDIT),
    did("gh pr merge 12 \u2026", "a"),
    did("gh pr merge 15 \u2026", "b"),
    did("gh issue comment 3 \u2026", "a"),
    did("fly deploy --app shop", "a"),
]


def problem(text: str, *numbers: int) -> str | None:
    return wording_problem(text, Sources([TASK[n] for n in numbers]), Sources(TASK))


@for_each(
    ("text", "numbers"),
    [
        ("Add a small sentence to `CHANGELOG.md`", (0, 3)),
        ("Add it to `CHANGELOG.md` below the heading Unreleased", (3, 4)),
        ('Commit the change with `git commit -m "{{message}}"`', (0, 2)),
        ("Merge the PR with `gh pr merge \u2026`", (5, 6)),
        ("Never push to the release branch", (1,)),
        ("Update the changelog before the commit", (0,)),
        ("If the changelog does not exist, create it", (0,)),
    ],
)
def test_a_line_may_put_together_what_the_person_typed_and_two_sessions_did(
    text: str, numbers: tuple[int, ...]
) -> None:
    assert problem(text, *numbers) is None


@for_each(
    ("text", "numbers", "why"),
    [
        ("Add a small sentence to the wiki", (0, 3), "'wiki'"),  # nobody said it
        ("Update the changelog of the shop", (0,), "'shop'"),  # one session did
        ("Read `CHANGELOG.md`", (3,), "only one session"),
        ("Comment on the issue", (7,), "only one session"),
        ("Update it with `gh issue comment \u2026`", (0, 7), "did not run like this in two sessions"),
        ("Merge it with `gh pr merge --admin`", (5, 6), "did not run like this in two sessions"),
        ("Commit with `git commit --no-verify`", (0, 2), "did not run like this in two sessions"),
        ("Commit it as {{name}}", (0,), "a variable"),
        ("Push to the release branch", (1,), "the opposite"),
        ("Never commit the changelog", (0,), "forbids"),
        ("Push the changelog", (0,), "'push'"),  # another line has the word, but it does something
        ("Merge the changelog", (0,), "'merg'"),
        ("Update the changelog 2031", (0,), "markup"),
        ("Update the changelog of https://example.org", (0,), "markup"),
        ("Update [the changelog](x)", (0,), "markup"),
        ("Update the changelog\nand commit", (0,), "one line"),
        ("Update the `changelog", (0,), "one line"),
        ("Write a small sentence for each change", (0,), "every time"),
        ("Release a branch", (0,), "'releas'"),
        ("Then do the same here", (0,), "without the conversation"),
    ],
)
def test_nothing_else_comes_in(text: str, numbers: tuple[int, ...], why: str) -> None:
    assert why in (problem(text, *numbers) or "")


@for_each("text", ["Delete the branch", "Delete the old branch of the feature"])
def test_what_deletes_needs_the_persons_own_word(text: str) -> None:
    ran = [did("git branch -D feature/x", "a"), did("git branch -D feature/y", "b")]
    asked = said("delete the old feature branch")
    assert wording_problem(text, Sources([asked]), Sources([asked, *ran])) is None
    assert wording_problem(text, Sources(ran), Sources([said("clean up the old feature branch"), *ran]))


@for_each(("typed", "same"), [("No just commit the change", True), ("No commit of the change", False)])
def test_a_refusal_before_an_order_is_no_ban(typed: str, *, same: bool) -> None:
    sources = Sources([said(typed)])
    assert (wording_problem("Just commit the change", sources, sources) is None) is same


def test_a_machine_path_and_a_secret_program_stay_out_even_if_they_were_typed() -> None:
    for text in ("Read /home/ann/notes of the changelog", "Use sudo for the changelog"):
        assert wording_problem(text, Sources([said(text)]), Sources([said(text)]))


def test_words_of_unspaced_scripts_may_differ_in_their_endings_only() -> None:
    asked = said("\u8a2d\u8a08\u66f8\u3092\u66f4\u65b0\u3057\u3066\u304f\u3060\u3055\u3044")
    for text in ("\u8a2d\u8a08\u66f8\u3092\u66f4\u65b0", "Read the \u8a2d\u8a08\u66f8 and check it"):
        assert wording_problem(text, Sources([asked]), Sources([asked])) is None
    assert wording_problem(
        "\u8a2d\u8a08\u66f8\u3092\u524a\u9664\u3057\u516c\u958b\u3059\u308b", Sources([asked]), Sources([asked])
    )


def test_a_title_is_short_and_without_variables() -> None:
    every = Sources(TASK)
    assert title_problem("Commit and update the changelog", every, 80) is None
    assert title_problem("Commit and update the changelog", every, 20)
    assert title_problem("Commit {{message}}", every, 80)
    assert title_problem("Commit and update the wiki", every, 80)


def test_a_line_of_the_evidence_stands_as_it_is_only_if_two_sessions_or_the_person_stand_behind_it() -> None:
    assert is_literal(ASKED)
    assert is_literal(did("make", "a", "b"))
    assert not is_literal(did("make", "a"))
    assert not is_literal(did("Summary", "a", "b", sort=PartKind.ANSWER))


RUNS = [
    did("gh run view {{number}} --log-failed", "a", "b"),
    did("docker compose -f dev.yml up shop", "a"),
    did("docker compose -f test.yml up mail", "b"),
    did("git push --force origin main", "a"),
    did("gh pr merge \u2026", "a", "b"),
    did("just release", "a"),
    did("just release", "b"),
]


@for_each(
    ("span", "known"),
    [
        ("gh run view \u2026 --log-failed", True),
        ("gh run view {{number}} --log-failed", True),
        ("gh run view \u2026", True),
        ("gh run view", False),  # not all of it
        ("gh run view {{number}} --log-failed \u2026", True),
        ("gh run view \u2026 --web", False),
        ("gh run \u2026 --log-failed", True),
        ("gh \u2026 --log-failed", False),  # this could be anything
        ("docker compose \u2026 up \u2026", True),
        ("docker compose -f \u2026 up shop", False),  # one session
        ("git push \u2026 main", False),
        ("just release", True),  # two sessions, one line each
        ("gh pr merge {{number}}", False),  # any words came there
    ],
)
def test_a_command_in_backticks_ran_like_this_if_only_what_stands_for_the_rest_differs(
    span: str, *, known: bool
) -> None:
    sources = Sources([said("run it"), *RUNS])
    assert (wording_problem(f"Run it with `{span}`", sources, sources) is None) is known


ELSEWHERE = [
    did("cd src && go test ./{{name}}/...", "a", "b"),
    did("cd src && golangci-lint run --fix ./pkg", "a"),
    did("cd src && golangci-lint run --new ./cmd", "b"),
    did("cd src && just build", "a"),
    did("gh api repos/ann/shop/issues/12/comments", "a"),
    did("gh api repos/ann/shop/issues/13 --paginate", "b"),
    did("gh api repos/ann/shop/pulls/3", "a"),
    did("docker run --env=prod shop", "a", "b"),
    did("cat docs/a.md", "a"),
    did("cat docs/b.md", "b"),
    did("cd /tmp/x && rm -rf out", "a", "b"),
]


@for_each(
    ("span", "known"),
    [
        ("go test \u2026", True),
        ("golangci-lint run \u2026", True),
        ("cd src && golangci-lint run \u2026", True),
        ("cd \u2026 && go test \u2026", False),  # this could be anywhere
        ("go test ./{{name}}/...", False),  # elsewhere it would be another command
        ("just build \u2026", False),  # one session
        ("gh api repos/ann/shop/issues/\u2026", True),
        ("gh api repos/ann/shop/\u2026", True),
        ("gh api repos/ann/shop/issues/\u2026 --paginate", False),  # one session
        ("gh api repos/ann/shop/pulls/\u2026", False),  # one session
        ("gh api repos/ann/other/\u2026", False),
        ("gh api repos/ann/sho\u2026", False),  # no whole part of a path
        ("docker run --env=\u2026 shop", True),
        ("docker run --env=\u2026 mail", False),
        ("docker run --env=\u2026=prod shop", False),
        ("rm -rf \u2026", False),
        ("cat docs/\u2026", True),
    ],
)
def test_the_beginning_of_a_command_may_end_within_a_path_or_have_run_in_another_folder(
    span: str, *, known: bool
) -> None:
    sources = Sources([said("run it"), *ELSEWHERE])
    assert (wording_problem(f"Run it with `{span}`", sources, sources) is None) is known


@for_each(
    ("typed", "text", "fits"),
    [
        ("I don't see the entire commands in opencode", "Look for the entire commands again", True),
        ("I can't find the totals of the month", "Find the totals of the month", True),
        ("it doesn't do the same at the cli e2e tests", "See that it does the same as the cli e2e tests", True),
        ("the release page isn't working on mobile", "See that the release page is working", True),
        ("the exported totals do match, the dates do not match", "See that the exported totals match", True),
        ("combine add and commit so I won't have to approve two", "Combine add and commit", True),
        ("use one line because two are not approved", "Use one line", True),
        ("make a branch, so don't push to main", "Push to main", False),
        ("make a branch so we don't push to main", "Push to main", False),
        ("don't squash since I look at each commit", "Squash since I look at each commit", False),
        ("I don't want the entire commands in opencode", "Add the entire commands in opencode", False),
        ("I didn't ask you to push the branch", "Push the branch", False),
        ("do not work on the main branch", "Work on the main branch", False),
        ("the agent does not work on the main branch", "Work on the main branch", False),
        ("don't see the commands as final", "See the commands as final", False),
    ],
)
def test_what_is_wrong_as_it_is_bans_nothing_and_a_ban_stays_one(typed: str, text: str, *, fits: bool) -> None:
    sources = Sources([said(typed)])
    assert (wording_problem(text, sources, sources) is None) is fits


@for_each(
    ("typed", "text", "fits"),
    [
        ("look at the screenshot first", "Look at the screenshot first", True),
        ("look at the page first", "Look at the page first and take a screenshot", False),
        ("look at the screenshot first", "Look at the screenshot first with pbpaste", False),
        ("look at the location first", "Look at the home location first", False),
        ("force push with lease", "Force push with lease", False),  # it can lose work
        ("send the clipboard to me", "Send me the clipboard", True),
    ],
)
def test_the_persons_own_word_for_what_shows_them_is_theirs_to_give(typed: str, text: str, *, fits: bool) -> None:
    ran = did("pbpaste screenshot home", "a", "b")
    assert (wording_problem(text, Sources([said(typed), ran]), Sources([said(typed), ran])) is None) is fits


@for_each("word", ["wants", "wrong", "according to", "planned"])
def test_a_plain_word_counts_in_any_form(word: str) -> None:
    sources = Sources([said("close the month and post the totals")])
    assert wording_problem(f"Post the totals of the month {word} here", sources, sources) is None


def test_many_gaps_in_a_command_take_no_time() -> None:
    sources = Sources([said("run it"), did("gh run view " + "a " * 190, "a", "b")])
    assert wording_problem("Run it with `gh run" + " \u2026 b" * 60 + "`", sources, sources)


ASK = Part(PartKind.REQUEST, "a title with the numbers of today", (Proof("a", "t", "x"),))
OTHER = Part(PartKind.REQUEST, "a title with numbers", (Proof("b", "t", "x"),))


@for_each(
    ("kind", "text", "sources", "doubt"),
    [
        ("rule", "Put the numbers in the title", (ASK,), "only one request"),
        ("rule", "Put the numbers in the title", (ASK, OTHER), ""),
        ("rule", "Put the numbers in the title", (ASK, ASKED), ""),
        ("step", "Put the numbers in the title", (ASK,), ""),
        ("step", "Fix the cause in `deploy.yml`", (ASKED,), "only 1 of 5 sessions"),
        ("step", "Fix the cause in `deploy.yml`, if it is there", (ASKED,), ""),
        ("step", "Fix the cause in `deploy.yml`", (ASKED, did("x", "b", "c")), ""),
        ("step", "Push the branch", (did("git push", "a", "b"),), "only 2 of 5 sessions"),
        ("step", "If it is green, push the branch", (did("git push", "a", "b"),), ""),
        ("step", "Read what it says", (ASKED,), ""),
    ],
)
def test_what_one_request_or_few_sessions_had_is_in_doubt(
    kind: str, text: str, sources: tuple[Part, ...], doubt: str
) -> None:
    found = line_doubt(kind, text, sources, 5) or ""
    assert found.startswith(doubt)
    assert bool(found) is bool(doubt)


BEGUN = [
    did("lsof -i :3013", "a"),
    did("lsof -ti :3099 2>/dev/null || echo free", "b"),
    did("file-review docs/plan.md", "a"),
    did("file-review docs/other.md --open", "b"),
    did("Agent Explore \u2026", "a"),
    did("Agent general-purpose \u2026", "b"),
    did("mcp__shop__read_query branch=main", "a"),
    did("mcp__shop__read_query branch=dev", "b"),
    did("mcp__shop__list_orders shop=main", "a", "b"),
    did("docker run mail", "a"),
    did("docker -H host stop mail", "b"),
    did("git -C shop push", "a"),
    did("git -C mail commit", "b"),
    did("python -m ledger", "a"),
    did("python -V", "b"),
    did("rm -rf out", "a"),
    did("rm -r dist", "b"),
    did("cd src && lint-it -x", "a"),
    did("cd out && lint-it -y", "b"),
    did("scripts/deploy.sh -p", "a"),
    did("scripts/deploy.sh -d", "b"),
    did("lat check", "a"),
    did("lat check \u2026", "b"),
    did("go test ./pkg/...", "a"),
    did("go test ./pkg/... -race", "b"),
    did("just ship", "a"),
    did("make all -j2", "a"),
    did("make all -j4", "b"),
]


@for_each(
    ("span", "known"),
    [
        ("lsof \u2026", True),
        ("file-review \u2026", True),
        ("Agent \u2026", True),
        ("mcp__shop__read_query \u2026", True),
        ("mcp__shop__list_orders \u2026", False),  # a line that both share says more
        ("docker \u2026", False),  # the second word says what it does
        ("git \u2026", False),
        ("python \u2026", False),  # this could be anything
        ("rm \u2026", False),
        ("cd \u2026", False),
        ("scripts/deploy.sh \u2026", False),
        ("lint-it \u2026", True),
        ("lat check", True),  # once as it is, once with more behind it
        ("go test ./pkg/...", True),
        ("go test", False),  # nobody ran it like this
        ("just ship", False),  # one session
        ("make all", False),  # always with more behind it
    ],
)
def test_one_word_tells_a_command_unless_the_next_one_says_what_it_does(span: str, *, known: bool) -> None:
    sources = Sources([said("run it"), *BEGUN])
    assert (wording_problem(f"Run it with `{span}`", sources, sources) is None) is known


@for_each(
    ("text", "fits"),
    [
        ("See that the check has no complaints", True),
        ("See that the check is there with no errors", True),
        ("Say which comments you did not fix", True),
        ("Say the reason for the ones that you did not fix", True),
        ("Stop it with `docker stop \u2026`", True),
        ("Make sure that the check has no comments", False),
        ("Make sure that you do not fix the comments", False),
        ("Report no complaints", False),
        ("Do not fix the comments", False),
        ("Stop the reports of the comments", False),
        ("Stop fixing comments with `docker stop \u2026`", False),
        ("Stop it from the check with `docker stop \u2026`", False),
    ],
)
def test_what_is_found_or_stopped_forbids_nothing(text: str, *, fits: bool) -> None:
    words = said("run the check, fix the comments, report the complaints and errors with the reason")
    sources = Sources([words, did("docker stop mail", "a"), did("docker stop shop", "b")])
    problem = wording_problem(text, sources, sources)
    assert problem in ((None,) if fits else ("it forbids what nobody forbade",))


@for_each(
    ("typed", "text", "fits"),
    [
        ("check the db", "Check the database", True),
        ("look at the config of the repo", "Look at the configuration of the repository", True),
        ("check the deb", "Check the database", False),
        ("check the db", "Check the schema", False),
    ],
)
def test_a_short_form_is_its_long_one(typed: str, text: str, *, fits: bool) -> None:
    sources = Sources([said(typed)])
    assert (wording_problem(text, sources, sources) is None) is fits


@for_each(
    ("typed", "text", "fits"),
    [
        (
            ["copy over the local folder so that you can run the dev server"],
            "Copy the local folder to the dev server",
            True,
        ),
        (["copy over the local folder", "run the dev server"], "Copy the local folder to the dev server", False),
        (["run the dev server of the local folder"], "Copy the local folder to the dev server", False),
    ],
)
def test_what_one_sentence_of_the_person_sends_is_theirs_to_give(typed: list[str], text: str, *, fits: bool) -> None:
    sources = Sources([*map(said, typed), did("copy it", "a", "b")])
    assert (wording_problem(text, sources, sources) is None) is fits
