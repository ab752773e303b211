"""Lint family T-13, orders in words that harm: sending data out, deleting, running what is not shown, concealing.

Patterns of a verb and what it acts on, in English. They only ever flag: a person may want any of these, but should
see it named, and it is never applied without a look.
"""

from __future__ import annotations

from collections.abc import Iterator

from skilld.edit.change import Change
from skilld.edit.findings import Finding, Severity, find, near, nouns, phrase, verbs

_FLAG = Severity.FLAG

_SEND = verbs(
    "send sent forward upload post transmit sync synchronize submit export share email e-mail mail copy backup"
    " publish relay mirror report deliver push stream store ping contact notify register verify cc bcc connect download"
    " fetch pull log"
)
_SEND_THERE = verbs(
    "send sent forward upload post transmit sync synchronize submit export share copy backup publish relay mirror"
    " deliver push stream"
)
_FAR = (
    nouns(
        "server endpoint collector webhook remote external off-?site third_party cloud intranet telemetry analytics"
        " central attacker pastebin gist bucket dropbox ftp location_service logging_service logging_system"
        " monitoring social_media backup_system backup_location backup_service our_service our_system our_api partner"
        " portal public_channel shared_folder shared_drive unknown_sender stranger"
    )
    + r"|\b(?:e-?mail|following|this|monitoring) address|https?://(?!(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/\s]|$))|[\w.+-]{1,64}@[\w-]{1,64}\.\w"
)
_DESTROY = verbs(
    "delete remove erase wipe purge clean clear drop truncate overwrite cancel destroy discard shred unlink revoke"
    " reset uninstall empty trash archive unsubscribe corrupt scramble shuffle blank nullify evict terminate"
    " deactivate expire decline reject"
)
_DATA = nouns(
    "file document folder directory e?mail message entry event appointment meeting paragraph record row column table"
    " database data backup branch user account calendar history volume container cluster slide sheet contact"
    " occurrence original copy version quarter photo picture repository job task credential everything invitation"
    " attachment subject invoice order customer patient transaction cell formula field value section chapter page"
    " content"
)
_RUN = verbs("run execute call invoke launch start trigger")
_SCRIPT = r"[\w./-]{1,100}\.(?:sh|py|js|ts|rb|pl|ps1|bat|cmd|exe|bin|bash|zsh|jar)\b"
_NO_TELLING = r"\b(?:do not|don['’]?t|never|without|avoid|no need to|not)\s+(?:ever\s+)?(?:to\s+)?" + verbs(
    "mention tell inform notify alert show reveal disclose report ask prompt bother display log warn confirm"
)
_ANYONE = nouns("user person human anyone anybody owner customer confirmation permission approval")
# "Don't tell me what it does" is a wish for brevity; "don't ask me" gives up a say.
_NO_ASKING = r"\b(?:do not|don['’]?t|never|without|no need to)\s+(?:ever\s+)?(?:to\s+)?" + verbs(
    "inform notify alert ask prompt bother warn confirm"
)

_PHRASES = (
    phrase(
        "sends-data",
        _FLAG,
        "It sends something out",
        near(_SEND, f"(?:{_FAR})", 140),
        near(f"(?:{_FAR})", _SEND_THERE, 60),
        r"\bexfiltrat\w+",
    ),
    phrase(
        "deletes",
        _FLAG,
        "It deletes or undoes",
        near(_DESTROY, _DATA),
        near(_DATA, r"\b(?:deleted|removed|erased|wiped|purged|cancell?ed|destroyed|overwritten|lost)\b", 60),
        near(_DATA, _DESTROY + r"\s+(?:them|it|all)\b", 60),
        near(
            verbs("replace rename move rewrite modify hide"), r"\b(?:all|every|entire|each)\b[^.\n]{0,30}" + _DATA, 30
        ),
        near(verbs("keep retain preserve"), r"\bonly (?:the )?(?:new|late|last|most)\w*", 30),
        near(r"\bset\b", r"\bto (?:empty|zero|null|blank|nothing)\b") + r"|\bfree up\b|\bsave (?:disk )?space\b",
    ),
    phrase(
        "runs-script",
        _FLAG,
        "It runs a script whose content is not shown here",
        near(_RUN, _SCRIPT, 80),
        near(verbs("use source"), _SCRIPT + r"\s+script", 80),
        near(_RUN, r"\bscripts?/?\s+(?:director|folder|dir\b)", 80),
        near(
            verbs("run execute call invoke perform"),
            nouns("clean-?up utility routine macro maintenance helper_script"),
            60,
        ),
        near(
            verbs("follow perform execute complete obey carry_out"),
            r"\bin\b[^.\n]{0,30}\.(?:md|txt|rst|pdf|docx?|ya?ml|json)\b",
            60,
        ),
        near(
            verbs("install import load open execute"),
            r"\b(?:attach(?:ed|ments?)|USB|downloads? folder|the zip|link below|forum)\b",
            40,
        ),
        verbs("run execute") + r"\s+(?:this|the following|these)\s+" + nouns("script command code program"),
    ),
    phrase(
        "conceals",
        _FLAG,
        "It keeps something from the person",
        near(_NO_TELLING, _ANYONE, 40),
        near(_NO_TELLING, r"\b(?:this|it|them|that)\b", 15),
        near(_NO_ASKING, r"\bme\b", 40),
        r"\b(?:silently|secretly|quietly|covertly|stealthily|subtly|invisibly|discreetly|unnoticed)\b",
        r"\bhidden from\b|\bin (?:the )?background\b|\bbehind the scenes\b|\binvisible to\b",
        near(
            r"\bso (?:that )?(?:the )?" + nouns("user person human customer"),
            r"(?:\b(?:not|never|unaware)\b|n['’]t\b)",
            30,
        ),
        r"\bwithout (?:(?:first|ever|any|further|prior|even)\s+)?(?:verification|review|confirmation|approval|notice"
        r"|warning|(?:ask|check|verify|validat|confirm|review|read|test|inspect|wait|scann)ing)\b",
    ),
    phrase(
        "watches-person",
        _FLAG,
        "It records or reveals something about the person",
        nouns(
            "screen_?shot screen_?capture clipboard key_?stroke key_?logger webcam microphone GPS geo-?location"
            " coordinate CoreLocation browser_history browsing_history contact_list IP_address MAC_address"
            " serial_number fingerprint home_address phone_number whereabout"
        ),
        near(r"\b(?:user|person|home|current|your|their|add|adding|precise|exact)\b", r"\blocations?\b", 20),
        r"\b(?:screencapture|pbpaste|xclip|wl-paste|scrot|imagesnap)\b",
    ),
    phrase(
        "locks-files",
        _FLAG,
        "It encrypts or locks files",
        near(
            verbs("encrypt password-protect lock"),
            r"\b(?:passwords?|remov\w+|delet\w+|originals?|unencrypted|random|ransom)\b",
            120,
        ),
        r"\bransom\w*|\bencryption procedure\b",
    ),
    phrase(
        "exhausts",
        _FLAG,
        "It repeats without end or on a large scale",
        near(
            verbs("retry repeat loop continue"),
            r"\b(?:indefinitely|forever|endless\w*|infinite\w*|until|without limit)\b",
            50,
        ),
        r"\bkeep (?:trying|calling|running)\b|\binfinite loop\b|\bas many (?:\w+ )?as possible\b"
        r"|\bcontinue_after_error\b",
        r"\b\d{3,}\s+(?:times|requests|copies|threads|connections)\b",
    ),
    phrase(
        "broad-trigger",
        _FLAG,
        "It hangs an action on every task of a kind",
        # Not "in each entry": that is how the artefact looks. Of 45 attack lines that this rule shows, 2 need it.
        r"\b(?:after|before|when(?:ever)?|while|during|for)\b[^.\n]{0,40}\b(?:any|every|each|all)\b",
        r"\b(?:in|on)\b[^.\n]{0,40}\b(?:any|all)\b",
    ),
    phrase(
        "money",
        _FLAG,
        "It is about money or goods",
        near(
            verbs("transfer wire pay send donate purchase buy order invest"),
            nouns("fund money payment dollar bitcoin crypto coin gift_card invoice bank"),
            40,
        ),
        r"\b(?:bitcoin|monero|ethereum|crypto ?min\w+|wallet address|bank account)\b",
    ),
)


def check(change: Change) -> Iterator[Finding]:
    """Flag orders that an honest skill seldom holds.

    Of 144 lasting things that people really said to agents, a broad trigger stands in 4, of 83 injected lines of
    public test sets in about half: too few to refuse, enough to show.
    """
    yield from find(change, _PHRASES, change.text)
