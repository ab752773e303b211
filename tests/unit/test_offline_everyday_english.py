"""Everyday English about the agent's work, and its look-alikes: what is heard, kept, and left alone."""

from __future__ import annotations

from skilld.classify.backends.offline import Offline
from skilld.types import Message, Update
from support.rows import for_each

HEARD = """
As a rule of thumb, keep functions under 40 lines. => Keep functions under 40 lines.
keep functions short, as a rule of thumb => Keep functions short.
Stop adding banners to scripts. I have to remove them every single time. => Do not add banners to scripts.
this goes for all pages: no inline styles => For all pages: no inline styles.
my rule for the blog: no more than three headings => No more than three headings.
This is a permanent one: run the linter before you commit => Run the linter before you commit.
not only about this page: every image needs alt text => Not only about this page: every image needs alt text.
I expect every test to have a name. Not just in this file. => Every test must have a name.
not axios, we use fetch here => Use fetch here, not axios.
Answer me without greetings - that's for all my projects => Answer me without greetings.
use tabs, and it counts in all my repos => Use tabs.
not lodash, we use native array methods here, remember it => Use native array methods here, not lodash.
not enzyme, write new tests with testing-library, remember that => Write new tests with testing-library, not enzyme.
we do branch names like feat/123-short, please stick to that => We do branch names like feat/123-short.
Every page needs a title, please stick to that. => Every page needs a title.
Two things for good: always run ruff before you commit. => Always run ruff before you commit.
From now on we have two reviewers per pull request. => We have two reviewers per pull request.
From now on our tests are in tests/unit. => Our tests are in tests/unit.
always run prettier before committing, remember that for all my projects => Always run prettier before committing.
In all my projects: never use sudo => Never use sudo.
I'd rather you asked before running migrations => Ask before running migrations.
commit messages in english please, we have people in berlin and lisbon => Commit messages in english.
again you used default exports. named exports only please => Named exports only.
you should know by now that I want the tests first => The tests first.
make a note: staging deploys only from the release branch => Staging deploys only from the release branch.
I don't want any AI attribution in commits => No AI attribution in commits.
answers short please, I don't need the summary at the end every time => Answers short.
as a habit, run the type checker after each edit => Run the type checker after each edit.
dates are ISO everywhere => Dates are ISO everywhere.
put new components in src/ui, not src/components => Put new components in src/ui, not src/components.
if the build fails, don't retry, tell me => If the build fails, don't retry, tell me.
I told you already: no default exports => No default exports.
when you touch an endpoint, update the openapi file too => When you touch an endpoint, update the openapi file too.
when writing a test, name it after the behaviour => When writing a test, name it after the behaviour.
when adding a dependency, explain why in the PR => When adding a dependency, explain why in the PR.
as a matter of course, rebase before you open a PR => Rebase before you open a PR.
don't reformat files you didn't change => Do not reformat files you didn't change.
don't add comments that restate the code => Do not add comments that restate the code.
don't bother summarising what you did => Do not summarise what you did.
I don't need the summary at the end every time => No summary at the end every time.
answers short please => Answers short.
shorter answers please => Shorter answers.
prices are in cents everywhere in this code => Prices are in cents everywhere in this code.
you know I hate long functions => No long functions.
told you twice now: no default exports => No default exports.
if a test is flaky don't skip it, tell me => If a test is flaky don't skip it, tell me.
commit messages in english please => Commit messages in english.
keep commits small => Keep commits small.
small commits please => Small commits.
one commit per change please => One commit per change.
tests first, then code => Tests first, then code.
full variable names please, no abbreviations => Full variable names, no abbreviations.
I like early returns better than nested ifs => Prefer early returns to nested ifs.
prefer early returns => Prefer early returns.
don't say it's done if you haven't run it => Do not say it's done if you haven't run it.
that's too long. keep your answers to a few sentences => Keep your answers to a few sentences.
run things through the makefile, not docker directly => Run things through the makefile, not docker directly.
files under vendor/ are off limits => Files under vendor/ are off limits.
vendor/ is read-only for you => vendor/ is read-only for you.
we don't edit generated code by hand => Do not edit generated code by hand.
every function needs a docstring => Every function needs a docstring.
each public function gets a type annotation => Each public function gets a type annotation.
no function longer than 40 lines => No function longer than 40 lines.
max line length is 100 here => Max line length is 100 here.
line length 100 => Line length 100.
indent with two spaces => Indent with two spaces.
two spaces, not four => Two spaces, not four.
we indent with two spaces in this repo => We indent with two spaces in this repo.
single quotes in JS please => Single quotes in JS.
trailing commas everywhere please => Trailing commas everywhere.
show me a diff before you apply anything => Show me a diff before you apply anything.
one step at a time please => One step at a time.
don't work on main => Do not work on main.
I do the pushing => Leave pushing to me.
leave the git commits to me => Leave the git commits to me.
if you add a flag, document it => If you add a flag, document it.
if you change an API, bump the version => If you change an API, bump the version.
don't guess, look it up => Do not guess, look it up.
please be more concise => Be more concise.
be brief => Be brief.
speak german with me => Speak german with me.
no, the skill has it wrong: copy closes on tuesday at noon => Copy closes on tuesday at noon.
step 3 in the skill is outdated, we use make deploy now => We use make deploy now.
In packages/checkout, never use bare except again => In packages/checkout, never use bare except.
in `packages/api` always add type hints => In `packages/api` always add type hints.
house rule, add it to the doc: any time u touch a prefab, list its scenes => Any time u touch a prefab, list its scenes.
we prefix feature flags with the team name => We prefix feature flags with the team name.
"""

# May be meant for once: a learning, which becomes a proposal when it is said in a second session.
KEPT = """
please don't rewrite my comments
use conventional commits please
logging through structlog, no print
only use the standard library here
don't touch unrelated code
all timestamps in UTC please
"""

LEFT_ALONE = """
As a rule of thumb, how many columns is too many for duckdb?
As a rule, how many columns is too many?
as a rule of thumb, is 80 columns fine?
going forward, is it fine to skip the tests?
I have to delete them every single time.
And I had to rename those every single time!
this goes for all users: no discounts
not only this page is broken: every image is missing
I expect every customer to get a mail. Not just in this shop.
from now on I want every new user to get a mail
Never Stop Learning is the title of the course
Always Be Closing is the name of the campaign
Forever Young is the new collection
Never Settle is our slogan. Put it in the hero
From now on we sell in Switzerland too.
from now on we also have a shop in Austria, add it
From now on our office is in Graz, change the imprint.
stop using port 3000, something else runs there right now
Stop reading the old bucket, they are moving it right now
in all my projects the tests fail
we always deploy on Fridays, which is stupid, but ok
when you click an item, show a tooltip
when a user opens a page, always log it
when you get a minute, also look at the failing job
when you are done, run the tests
when you add the endpoint, also add a test for it
when I add a migration the app crashes
when adding a product to the cart the total is wrong
you know I want the blue variant for the header
you know I like the second option
don't touch the parser yet, first show me the diff
don't change the tests in this PR
don't remove the old tests before the new ones pass
don't bother with the docs, just fix it
don't bother fixing that one
keep the tests green while you do this
keep functions foo and bar in the same file
short names for the two columns please
commit the changes please
tests first, I think the bug is there
tests first? or the refactoring?
messages in the queue are lost
one row per customer in the report
one file per test run gets created, why?
prefer the second option
prefer option b
I like the first design better than the second
I like this one better than that
follow the existing plan
put all files in the archive and send it to me
put new users in the trial group
make a note: the meeting with Anna is on Tuesday
I don't need the summary, just the numbers
we don't need that for every customer
I don't want errors in the log
if the import fails, don't crash, show me an error
if the upload fails don't retry, tell the user
don't say the job is finished before the file is closed
it's red not green in all three screenshots
dates are wrong everywhere
tests are failing everywhere
buttons are blue everywhere
prices are rounded everywhere, that's the bug
use the existing tests
use exports from the old module
use quotes around the path
login via google, not github
build with cmake, not make
only use the first two columns here
it would be better if you checked the logs first
told you it would break
told you already, the token expired yesterday
as a habit he checks it every morning
you used the wrong branch again. switch to main
you deleted the file again. restore it from git
the test fails again. tests need a database for that
you forgot the import again. users need it on login
it would be nice if you asked the API first
full path please
short summary please
small fix please
plain text please
english version please
separate commits for the two fixes please
descriptive names for these three variables
don't add tests that need the network for this one
don't write code that you can't test today
don't skip tests, run the whole suite now
don't edit files while the build is running
whenever the user scrolls, the header shrinks
whenever I run the build, it fails
if you add the flag now, document it too
if you see a null, skip it
if you want a hint, look at the old code
if a user adds an item, update the total
if you change a setting, the app restarts
when you get a 500, retry it
every function needs to be checked for the bug
every endpoint needs auth, that's in the spec
each component gets a random color in this demo
no line longer than 3 words in the output of this function
no file larger than 5 MB can be uploaded
don't guess the type, it's in the header
don't guess this one, I'll send you the spec
the server is off limits for guests
leave the commits to me for now
leave deploys to me this time
I handle the errors in the middleware
show me a table before you delete the rows
show me the plan before you change the schema
wait for my colleague before the deploy
one thing: the build is red
one step at a time, first the parser
single quotes are used in the config
tabs or spaces?
two spaces are missing
indent with two spaces is what the linter says
don't push to main yet
don't push to production today
don't build on main, it's broken right now
all files in src
all tests in one file
all prices with tax
all users as admins
be careful
be quiet
write english text for the button
write german translations for these keys
talk german to the customer in the mail
reuse the existing button component for this
follow the existing pattern here
follow the existing code in the billing module
keep answers in the database
keep messages under 160 chars, it's an SMS
keep reports for 30 days
keep summaries of the calls in the CRM
commit messages first, then the description
short diffs are easier to review
small commits would have been better
add functions that return the total
don't add functions that the tests don't cover in this PR
don't leave files that are open
the skill is wrong there, can you have a look
the api must never return null
every time somebody writes Thursday I get fifty calls Friday
donors get the usual one
and never preselect anything, it biases the answers
"""

# A correction ends the rule before it; other words do not.
CORRECTED = """
from now on use tabs. no wait, spaces. =>
from now on use yarn. actually no, pnpm. =>
always use tabs - no, actually use spaces => Use spaces.
always use tabs. no, spaces. =>
always run make lint. sorry, make check. =>
from now on use single quotes. no wait, double =>
never commit to main. wait no, to develop. =>
from now on write the docs in english, or rather in german =>
ab jetzt immer yarn. nein warte, pnpm. =>
utilise toujours des tabs. non attends, des espaces =>
usa sempre npm. no aspetta, usa pnpm =>
always run make lint. no, I am not joking => Always run make lint.
always run make lint. I mean it => Always run make lint.
from now on always use pnpm. sorry for not saying so earlier => Always use pnpm.
always use pnpm. no npm. => Always use pnpm.
no `any` anymore, from now on use unknown => No `any`, use unknown.
"""


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


def _hear(said: str) -> list[Update]:
    messages = [Message("fix the price rounding in the cart", 1), Message("Done."), Message(said, 2)]
    return Offline().detect(messages, [])


@for_each("line", _lines(HEARD))
def test_everyday_wishes_are_heard_and_become_instructions(line: str) -> None:
    said, _, rule = line.partition(" => ")
    heard = _hear(said)
    assert heard
    assert heard[0].change == rule
    assert heard[0].confidence >= 0.5


@for_each("line", _lines(CORRECTED))
def test_a_correction_ends_the_rule_before_it(line: str) -> None:
    said, _, rule = line.partition(" =>")
    assert [one.change for one in _hear(said)] == ([rule.strip()] if rule else [])
    assert all(one.quote in said for one in _hear(said))


@for_each("said", _lines(KEPT))
def test_wishes_that_may_be_for_once_are_kept(said: str) -> None:
    assert [one.confidence for one in _hear(said)] == [0.45]


@for_each("said", _lines(LEFT_ALONE))
def test_tasks_products_and_reports_in_like_words_are_left_alone(said: str) -> None:
    assert not _hear(said)
