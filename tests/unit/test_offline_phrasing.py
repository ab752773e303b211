from __future__ import annotations

from skilld.classify.backends.offline import Offline
from skilld.classify.offline.detector import find_lasting
from skilld.classify.offline.phrasing import is_fragment, phrase
from skilld.types import Message
from support.rows import for_each


@for_each(
    ("said", "change"),
    [
        ("I always want dates to be in UTC", "Dates must be in UTC."),
        ("from now on i expect the migrations to have a down step", "The migrations must have a down step."),
        ("I don't ever want test fixtures to touch the network", "Test fixtures must not touch the network."),
        ("I want links to issues in the notes from now on", "Links to issues in the notes."),
        ("I want access to builds from now on", "I want access to builds."),
        ("I want branch names without umlauts from now on", "Branch names without umlauts."),
        ("from now on I'd rather have short functions", "Prefer short functions."),
        ("I'd prefer it if you always wrote the docs first", "Always write the docs first."),
        ("I would love it if you always sorted the imports", "Always sort the imports."),
        ("from now on I want the build number in every mail", "Put the build number in every mail."),
        ("always log the failure cause in the journal", "Always log the failure cause in the journal."),
        ("always run the tests cause the ci is slow", "Always run the tests."),
        ("From now on, sort the imports, please remember.", "Sort the imports."),
        ("From now on sort the imports, great", "Sort the imports."),
        ("never use SELECT * in the reports", "Never use SELECT * in the reports."),
        # Who does what is no reason.
        ("from now on you open the PR, I merge it", "Open the PR, I merge it."),
        (
            "désormais les migrations tu les écris, c'est moi qui les lance",
            "Les migrations tu les écris, c'est moi qui les lance.",
        ),
        ("de ahora en adelante tú escribes los scripts, eso lo corro yo", "Tú escribes los scripts, eso lo corro yo."),
        ("never change the fixtures, I spent a week on them", "Never change the fixtures."),
        ("lance toujours les tests, ça a planté deux fois hier", "Lance toujours les tests."),
        # Why: what it is, what others do, what happened the last time.
        ("no param search unless i call for it, thats overfitting", "No param search unless i call for it."),
        ("never page anyone about the spot nodes, they die all the time", "Never page anyone about the spot nodes."),
        ("no metas paquetes sin consultarme, la última vez se rompió todo", "No metas paquetes sin consultarme."),
        ("bitte nie ohne Rückfrage pushen, letztes Mal war alles rot", "Nie ohne Rückfrage pushen."),
        (
            "always squash merges for users, they get one line each",
            "Always squash merges for users, they get one line each.",
        ),
        # An order without an object has it before the comma.
        (
            "And the config in prj.conf, do not touch without asking me",
            "The config in prj.conf, do not touch without asking me.",
        ),
        ("Thanks, looks good, don't push without asking me", "Do not push without asking me."),
        # "Hier" is "here" in German.
        (
            "Commit-Messages immer auf Deutsch, hier schreiben alle so",
            "Commit-Messages immer auf Deutsch, hier schreiben alle so.",
        ),
    ],
)
def test_what_a_person_wants_becomes_an_order_if_its_form_is_certain(said: str, change: str) -> None:
    [found] = find_lasting(said)
    assert phrase(found).text == change


@for_each(
    "text",
    [
        "Only if the schema has changed.",
        "Without a trailing slash.",
        "Never in a package of its own.",
        "Do not even on Fridays.",
        "kebab-case.",
    ],
)
def test_a_condition_or_place_alone_is_a_fragment(text: str) -> None:
    assert is_fragment(text)


@for_each(
    "text",
    [
        "Before every release, run the smoke test.",
        "When you touch the schema write a migration.",
        "On main no force pushes.",
        "In fixtures dates are fixed.",
        "For icons: SVG.",
        "In general be brief.",
        "Run the tests only in Docker.",
    ],
)
def test_an_order_behind_a_condition_is_no_fragment(text: str) -> None:
    assert not is_fragment(text)


@for_each(
    ("said", "changes"),
    [
        (
            "Name the branch after the ticket. From now on in kebab-case.",
            ["Name the branch after the ticket. From now on in kebab-case."],
        ),
        ("No abbreviations. Not even in tests. From now on.", ["No abbreviations. Not even in tests. From now on."]),
        ("Never use globals. Only when nothing else works.", ["Never use globals, only when nothing else works."]),
        (
            "Put the tracker id in titles from now on. Not in brackets, in front.",
            ["Put the tracker id in titles. Not in brackets, in front."],
        ),
        ("From now on only if the schema has changed.", []),
    ],
)
def test_a_fragment_is_proposed_with_the_sentence_before_it_or_not_at_all(said: str, changes: list[str]) -> None:
    found = Offline().detect([Message(said, turn=1, turn_key="t1")], [])
    assert [one.change for one in found if one.confidence >= 0.5] == changes


@for_each(
    ("said", "change"),
    [
        ("From now on, always put the ticket first in each entry.", "Always put the ticket first in each entry."),
        ("Never mention internal hostnames in the notes again.", "Never mention internal hostnames in the notes."),
        ("docs/api.md must always be in English", "docs/api.md must always be in English."),
        (
            "Ab jetzt bitte immer vitest mit --coverage laufen lassen, that would be great.",
            "Immer vitest mit --coverage laufen lassen.",
        ),
        ("Ab sofort immer auf Deutsch antworten – das wäre super nett, danke dir!", "Immer auf Deutsch antworten."),
        ("Schreib ab jetzt alle Tests mit vitest, vielen Dank schon mal", "Schreib alle Tests mit vitest."),
        ("Verwende ab sofort nur noch pnpm, wenn du so lieb wärst", "Verwende nur noch pnpm."),
        ("from now on use tabs, that'd be really awesome, thanks a lot!", "Use tabs."),
        ("Always use single quotes, if you don't mind, much appreciated", "Always use single quotes."),
        ("Toujours lancer les tests avant, ce serait super sympa", "Toujours lancer les tests avant."),
        ("Usa siempre pnpm, sería genial, gracias de antemano", "Usa siempre pnpm."),
        ("Gebruik vanaf nu altijd pnpm, dat zou heel fijn zijn, alvast bedankt!", "Gebruik altijd pnpm."),
        ('Never say "that would be great" in an answer.', 'Never say "that would be great" in an answer.'),
        ("git push は今後必ず私に聞いてからにして", "git push は今後必ず私に聞いてからにして。"),
        ("Never push 📦 images without a digest.", "Never push 📦 images without a digest."),
        ("Never deploy on Fridays 🚀 or during the freeze.", "Never deploy on Fridays 🚀 or during the freeze."),
        ("thanks 🙏 never push to main", "Never push to main."),
        ("From now on, always write 日本語 comments in the scripts.", "Always write 日本語 comments in the scripts."),
        ("As a last step, always update the changelog", "As a last step, always update the changelog."),
        ("don't forget to always close the connection", "Always close the connection."),
        ("I always want the summary at the top", "Always put the summary at the top."),
        ("never again use any in TypeScript, seriously", "Never use any in TypeScript."),
        ("always use single quotes, my friend", "Always use single quotes."),
        ("from now on use vitest and never jest", "Use vitest and never jest."),
        ("ich möchte, dass du mich ab jetzt duzt", "Ich möchte, dass du mich duzt."),
        ("von nun an bitte keine Abkürzungen mehr, ja?", "Keine Abkürzungen mehr."),
        ("always put the newest entry on top, thanks man", "Always put the newest entry on top."),
        ("acuérdate siempre de cerrar la conexión", "Siempre cerrar la conexión."),
        ("pense toujours à mettre à jour la doc", "Toujours mettre à jour la doc."),
        ("麻烦以后注释都用英文写，多谢啦", "注释都用英文写。"),
        ("in Zukunft verwende bitte keine Emojis", "Verwende keine Emojis."),
        ("Verwende ab sofort nur noch pnpm, danke", "Verwende nur noch pnpm."),
        ("désormais, mets toujours la date en haut s'il te plaît", "Mets toujours la date en haut."),
        ("以后请一律用单引号，谢谢", "一律用单引号。"),
        ("请以后不要使用缩写变量名", "不要使用缩写变量名。"),
        ("永远不要直接推送到 main", "永远不要直接推送到 main。"),
        ("これからはコミットを英語で書いてください、お願いします", "コミットを英語で書いてください。"),
        ("次回からは日付をISO形式で書いてください", "日付をISO形式で書いてください。"),
        ("to finish, always summarize what you changed", "To finish, always summarize what you changed."),
        ("no, always use pnpm", "Always use pnpm."),
        ("Please note in AGENTS.md that we always squash merges.", "Always squash merges."),
        ("Remember to ask me before you push", "Ask me before you push."),
        ("please stop adding emojis to commit messages!", "Do not add emojis to commit messages."),
        ("you keep forgetting to update the changelog", "Do not forget to update the changelog."),
        ("stop using tabs in the examples", "Do not use tabs in the examples."),
        ("stop putting dates in headings", "Do not put dates in headings."),
        ("stop grandstanding in the summaries", "No grandstanding in the summaries."),
        ("Could you always run the linter before committing?", "Always run the linter before committing."),
        ("You should always write the entry in past tense.", "Always write the entry in past tense."),
        ("you must never rewrite published history", "Never rewrite published history."),
        ("I want you to always include the PR link", "Always include the PR link."),
        ("I never want emojis in commit messages", "No emojis in commit messages."),
        ("I don't want you to touch the lockfile", "Do not touch the lockfile."),
        ("don't ever delete my branches", "Never delete my branches."),
        ("we always squash merge here", "Always squash merge here."),
        ("you don't need to lint after every change any more", "No need to lint after every change."),
        ("add this to the skill: group entries by component", "Group entries by component."),
        ("Add a rule to CLAUDE.md: never use default exports", "Never use default exports."),
        ("make a rule that says to always tag the release", "Always tag the release."),
        ("use plain words in all future commit messages", "Use plain words in all commit messages."),
        ("in future migrations write a rollback", "In migrations write a rollback."),
        ("for all future sessions: read NOTES.md first", "Read NOTES.md first."),
        ("bei allen künftigen Berichten bitte keine Tabellen", "Bei allen Berichten bitte keine Tabellen."),
        ("para todos los futuros informes usa una página", "Para todos los informes usa una página."),
        ("in future commit the lock file too", "Commit the lock file too."),
        ("from now on you don't touch the balance sheet", "Do not touch the balance sheet."),
        ("ab sofort fragst du mich bevor du etwas löschst", "Ab sofort fragst du mich bevor du etwas löschst."),
        ("ab jetzt nur noch pnpm verwenden", "Nur noch pnpm verwenden."),
        ("da adesso in poi rispondi in italiano", "Rispondi in italiano."),
        ("small thing for the future: don't round the numbers", "Do not round the numbers."),
        ("in the future I would like the summary before the details", "The summary before the details."),
        ("our convention is kebab-case for file names", "Kebab-case for file names."),
        ("from now on it's tabs, not spaces", "Use tabs, not spaces."),
        ("not camelCase but snake_case from now on", "Not camelCase but snake_case."),
        ("the rule is simple: one migration per PR", "One migration per PR."),
        ("as a standing order: backups before migrations", "Backups before migrations."),
        ("don't do that again, ask me before you reformat a file", "Ask me before you reformat a file."),
        ("you are not to commit on main", "Do not commit on main."),
        ("from now on you don't have to ask me for staging", "No need to ask me for staging."),
        ("use tabs from now on, I like to see them", "Use tabs."),
        ("we agreed on it in the team: from now on, always use tabs", "Always use tabs."),
        ("rename the billing module. From now on, always use tabs", "Always use tabs."),
        ("good work today, but from now on, please always use tabs", "Always use tabs."),
        ("hey Claude, from now on, always use tabs", "Always use tabs."),
        ("hello from now on, always use tabs", "Always use tabs."),
        ("team decision: from now on, always use tabs", "Team decision: always use tabs."),
        ("next time you touch the schema, run the linter", "Next time you touch the schema, run the linter."),
        ("each single time you touch it, lint it first", "Each single time you touch it, lint it first."),
        ("next time, run the linter before the tests", "Run the linter before the tests."),
        ("don't deploy without my ok", "Do not deploy without my ok."),
        ("remember that `make lint` must always run first", "`make lint` must always run first."),
        ("Add a rule to CLAUDE.md: `pnpm` is always used", "`pnpm` is always used."),
        ('Add this to the skill: "Draft" is never the title', '"Draft" is never the title.'),
        ("remember: don't ever say 'sorry'", "Never say 'sorry'."),
        ("Remember: 'don't ever push'", "Never push."),
        ("you have to ask me before you touch the schema", "Ask me before you touch the schema."),
        ("our convention is that hooks start with use", "Hooks start with use."),
        ("our policy is to never log personal data", "Never log personal data."),
        ("write that down in AGENTS.md, tests live next to the code", "Tests live next to the code."),
        ('memorize this: clients call it "booking", not "order"', 'Clients call it "booking", not "order".'),
        ("add this to the skill: “always use tabs”", "Always use tabs."),
        ("we've agreed to never abbreviate names", "Never abbreviate names."),
        ("let's agree on this: one feature per branch", "One feature per branch."),
        ("I don't want you adding packages without asking", "Do not add packages without asking."),
        ("for SQL, always use CTEs and never subselects", "For SQL, always use CTEs and never subselects."),
        ("don't touch vendor files until I say otherwise", "Do not touch vendor files until I say otherwise."),
        ("until further notice no deploys to production", "Until further notice no deploys to production."),
        ("from now on, never run go vet ./... by hand", "Never run go vet ./... by hand."),
        ("never run go test ./... ; use make test", "Never run go test ./... ; use make test."),
        ("never run eslint . ; we have a target for it", "Never run eslint ."),
        ("Der Test ist rot, ab jetzt immer erst das Log lesen", "Immer erst das Log lesen."),
        ("le build est encore cassé, désormais lance toujours les tests avant", "Lance toujours les tests avant."),
        ("always wrap errors with their cause", "Always wrap errors with their cause."),
        ("always, always run the tests", "Always run the tests."),
        ("à chaque fois que tu pousses, lance le linter", "À chaque fois que tu pousses, lance le linter."),
        ("from now, NOTE that DO NOT REMOVE env files", "DO NOT REMOVE env files."),
        ("recuerda que nunca debes tocar el lockfile", "Nunca debes tocar el lockfile."),
        ("write docs in English, keep each entry short, from now on", "Write docs in English, keep each entry short."),
        ("use tabs, write docs from now on", "Use tabs, write docs."),
        ("siempre escribe tests en español, usa vi a partir de ahora", "Siempre escribe tests en español, usa vi."),
        ("always ask before you add a dependency, I've said this before", "Always ask before you add a dependency."),
        ("don't use npm, I told you: from now on use pnpm here, not npm", "Use pnpm here, not npm."),
        ("never use lodash, as I said: write it in plain TS from now on", "Never use lodash; write it in plain TS."),
        ("always use tabs, as I said, in all Go files", "Always use tabs, in all Go files."),
        ("always run the linter first, come on", "Always run the linter first."),
        ("never mutate props, you did it again in Menu.tsx", "Never mutate props."),
        ("no print statements, you've done that again", "No print statements."),
        ("nie relative Importe, du hast es in b.py wieder gemacht", "Nie relative Importe."),
        ("no relative imports, please fix b.py", "No relative imports."),
        ("never commit secrets, and now clean up config/dev.py too", "Never commit secrets."),
        ("whenever you rename a model, please fix admin.py", "Whenever you rename a model, please fix admin.py."),
        ("ab jetzt immer pnpm verwenden, wie gesagt", "Immer pnpm verwenden."),
        ("usa siempre pnpm en este proyecto, como te dije", "Usa siempre pnpm en este proyecto."),
        ("call me Sam and talk to me in German, always", "Call me Sam and talk to me in German."),
        ("schreib Commits auf Englisch, immer", "Schreib Commits auf Englisch."),
        ('never reply with "come on"', 'Never reply with "come on".'),
        ("please always use sentence case for headings, thanks :)", "Always use sentence case for headings."),
        ("No hagas commits nunca más sin preguntarme", "No hagas commits nunca más sin preguntarme."),
        ("a partir de ahora usa siempre comillas simples", "Usa siempre comillas simples."),
        ("Bitte nie wieder direkt auf main pushen", "Nie wieder direkt auf main pushen."),
        ("ne mets plus jamais d'emojis dans les commits", "Ne mets plus jamais d'emojis dans les commits."),
        ("Впредь никогда не пушь в main", "Никогда не пушь в main."),
        ("запомни: деплой только через CI", "Деплой только через CI."),
        ("以后提交信息一律用中文", "提交信息一律用中文。"),
        ("以后不要直接推送到 main", "不要直接推送到 main。"),
        ("これからは絵文字を使わないでください", "絵文字を使わないでください。"),
        ("앞으로 커밋 메시지는 항상 한국어로 작성해줘", "커밋 메시지는 항상 한국어로 작성해줘."),
    ],
)  # fmt: skip
def test_a_clause_becomes_an_instruction_in_its_own_words(said: str, change: str) -> None:
    made = phrase(find_lasting(said)[0])
    assert (made.text, made.clear) == (change, True)


@for_each(
    "said",
    [
        "yes, always",
        "always do this",
        "make a rule for it",
        "can you add that to AGENTS.md?",
        "update CLAUDE.md accordingly",
        "how many times do I have to tell you",
        "写进记忆",
        "把这个写进记忆",
        "from now on use the same format as the one I sent you last week in that mail",
    ],
)
def test_words_that_depend_on_others_are_not_clear(said: str) -> None:
    assert phrase(find_lasting(said)[0]).clear is False


@for_each(
    "said", ["never push to main", "no uses nunca tabs", "Не удаляй ничего без моего разрешения", "以后不要用缩写"]
)
def test_a_refusal_stays_a_refusal(said: str) -> None:
    denials = ("never", "no ", "nunca", "не ", "不要")
    assert any(word in phrase(find_lasting(said)[0]).text.lower() for word in denials)


@for_each(
    ("said", "change"),
    [
        ("ya te dije que nunca borres los tests", "Nunca borres los tests."),
        ("je t'ai déjà dit de ne jamais toucher aux migrations", "Ne jamais toucher aux migrations."),
        ("前にも言いましたが、mainに直接pushしないでください", "mainに直接pushしないでください。"),
    ],
)
def test_what_was_told_before_is_kept_without_the_telling(said: str, change: str) -> None:
    assert phrase(find_lasting(said)[0]).text == change


@for_each(
    ("said", "rule"),
    [
        ("from now on use feat: and fix:", "Use `feat:` and `fix:`."),
        ("always prefix commits with feat: or fix:", "Always prefix commits with `feat:` or `fix:`."),
        ("in future write TODO: and not FIXME:", "Write `TODO:` and not `FIXME:`."),
        ("from now on, feat: and fix:, no other prefixes", "feat: and fix:, no other prefixes."),
        ("ab jetzt bei commits immer feat: oder fix: davor", "Bei commits immer feat: oder fix: davor."),
        ("from now on: here is how I want the docs:", "Here is how I want the docs."),
        ("from now on, glas02 is only for backups", "glas02 is only for backups."),
        ("ab jetzt db-1 nie neu starten, ohne zu fragen", "db-1 nie neu starten, ohne zu fragen."),
        ("from now on npm ci instead of npm install", "npm ci instead of npm install."),
        ("git push only when I say so, always", "git push only when I say so."),
        ("Force-push never, from now on", "Force-push never."),
        ("never use npm. pnpm only", "Never use npm, pnpm only."),
    ],
)
def test_names_in_code_keep_their_colon_and_their_case(said: str, rule: str) -> None:
    assert [one.change for one in Offline().detect([Message(said, turn=1)], ())] == [rule]
