"""Tokens of every known issuer are found whole, wherever they stand. They are put together here from pieces, so that
no scanner takes this file for a leak.
"""

from __future__ import annotations

from skilld.redact import Redactor
from skilld.redact.tokens import load_formats
from support.rows import for_each

REDACTOR = Redactor(bytes(32))

# Bodies: made up by rolling dice, long enough to cut from.
HEX = "4f1c09b7e52da8360bd94e7f813ca65027f8e1b94d60c3a57b2e98f01d46ac35"
ALNUM = "q7RzK2vXw9TbL4mPsH8cYd3NfJ6gVtA5eUxZ1kQyW0oDiSrBhCnMpGaEjFuI2l4O8R3Tz7Xb" * 3
UPPER = "K7Q2ZR9X4WTB6MPH8C3YDN5JGV1LSAF0EUKQ7B2D9R4XM6" * 3
UUID = "3f8b1c2e-9d47-4a6b-8e05-c71d2f94a0b6"

TOKENS = [
    ("anthropic", "sk-ant-api03-" + ALNUM[:90]),
    ("openrouter", "sk-or-v1-" + HEX),
    ("langfuse", "sk-lf-" + UUID),
    ("openai", "sk-proj-" + ALNUM[:60]),
    ("openai", "sk-" + ALNUM[:48]),
    ("google-api-key", "AIza" + ALNUM[:35]),
    ("huggingface", "hf_" + "QwErTyUiOpAsDfGhJkLzXcVbNmQaZwSxEd"),
    ("replicate", "r8_" + ALNUM[:37]),
    ("groq", "gsk_" + ALNUM[:52]),
    ("xai", "xai-" + ALNUM[:80]),
    ("perplexity", "pplx-" + ALNUM[:48]),
    ("nvidia", "nvapi-" + ALNUM[:64]),
    ("cerebras", "csk-" + ALNUM[:48]),
    ("fireworks", "fw_" + ALNUM[:24]),
    ("together", "tgp_v1_" + ALNUM[:43]),
    ("tavily", "tvly-" + ALNUM[:32]),
    ("firecrawl", "fc-" + HEX[:32]),
    ("pinecone", "pcsk_" + ALNUM[:68]),
    ("voyage", "pa-" + ALNUM[:43]),
    ("jina", "jina_" + ALNUM[:60]),
    ("langsmith", "lsv2_pt_" + HEX[:32] + "_" + HEX[:10]),
    ("elevenlabs", "sk_" + HEX[:48]),
    ("anyscale", "esecret_" + ALNUM[:30]),
    ("wandb", "wandb_v1_" + ALNUM[:60]),
    ("cursor", "key_" + HEX),
    ("runpod", "rpa_" + ALNUM[:44]),
    ("e2b", "e2b_" + HEX[:40]),
    ("apify", "apify_api_" + ALNUM[:36]),
    ("llamaindex", "llx-" + ALNUM[:48]),
    ("mem0", "m0-" + ALNUM[:40]),
    ("aws-access-key", "AKIA" + UPPER[:16]),
    ("aws-bedrock", "ABSK" + ALNUM[:128]),
    ("google-oauth", "GOCSPX-" + ALNUM[:28]),
    ("google-oauth", "ya29." + ALNUM[:120]),
    ("bitcoin-key", "xprv" + ALNUM[:107]),
    ("alibaba", "LTAI" + ALNUM[:20]),
    ("tencent", "AKID" + ALNUM[:32]),
    ("yandex", "AQVN" + ALNUM[:36]),
    ("digitalocean", "dop_v1_" + HEX),
    ("cloudflare", "v1.0-" + HEX[:24] + "-" + HEX * 2),
    ("heroku", "HRKU-" + UUID),
    ("fly", "fm2_" + ALNUM[:80]),
    ("netlify", "nfp_" + ALNUM[:36]),
    ("vercel", "vcp_" + ALNUM[:56]),
    ("render", "rnd_" + ALNUM[:28]),
    ("scalingo", "tk-us-" + ALNUM[:48]),
    ("neon", "napi_" + ALNUM[:60]),
    ("supabase", "sbp_" + HEX[:40]),
    ("planetscale", "pscale_tkn_" + ALNUM[:43]),
    ("databricks", "dapi" + HEX[:32]),
    ("mongodb", "mdb_sa_sk_" + ALNUM[:40]),
    ("confluent", "cflt/" + ALNUM[:60]),
    ("clickhouse", "4b1d" + ALNUM[:38]),
    ("aiven", "AVNS_" + ALNUM[:19]),
    ("cockroach", "CCDB1_" + ALNUM[:62]),
    ("elastic", "essu_" + ALNUM[:60]),
    ("vault", "hvs." + ALNUM[:90]),
    ("vault", "s." + ALNUM[:24]),
    ("pulumi", "pul-" + HEX[:40]),
    ("doppler", "dp.st.dev." + ALNUM[:40]),
    ("harness", "pat." + ALNUM[:22] + "." + HEX[:24] + "." + ALNUM[:20]),
    ("infracost", "ico-" + ALNUM[:32]),
    ("openshift", "sha256~" + ALNUM[:43]),
    ("docker-swarm", "SWMTKN-1-" + ALNUM[:50].lower() + "-" + ALNUM[:25].lower()),
    ("tailscale", "tskey-auth-" + ALNUM[:12] + "-" + ALNUM[:32]),
    ("defined-networking", "dnkey-" + UPPER[:26] + "-" + UPPER[:52]),
    ("dynatrace", "dt0c01." + UPPER[:24] + "." + UPPER[:64]),
    ("grafana", "glsa_" + ALNUM[:32] + "_" + HEX[:8]),
    ("new-relic", "NRAK-" + UPPER[:27]),
    ("sentry", "sntrys_" + ALNUM[:100]),
    ("posthog", "phx_" + ALNUM[:43]),
    ("honeycomb", "hcaik_" + ALNUM[:58]),
    ("axiom", "xaat-" + UUID),
    ("rootly", "rootly_" + HEX),
    ("launchdarkly", "sdk-" + UUID),
    ("age", "AGE-SECRET-KEY-1" + UPPER[:58]),
    ("1password", "ops_eyJ" + ALNUM[:200]),
    ("1password", "A3-" + "-".join((UPPER[:6], UPPER[:11], UPPER[1:6], UPPER[2:7], UPPER[3:8]))),
    ("github", "ghp_" + ALNUM[:36]),
    ("github", "github_pat_" + ALNUM[:22] + "_" + ALNUM[:59]),
    ("gitlab", "glpat-" + ALNUM[:20]),
    ("gitlab", "_gitlab_session=" + HEX[:32]),
    ("bitbucket", "ATBB" + ALNUM[:32]),
    ("atlassian", "ATATT3" + ALNUM[:186]),
    ("trello", "ATTA" + HEX),
    ("npm", "npm_" + ALNUM[:36]),
    ("pypi", "pypi-AgEIcHlwaS5vcmc" + ALNUM[:140]),
    ("rubygems", "rubygems_" + HEX[:48]),
    ("crates", "cio" + ALNUM[:32]),
    ("nuget", "oy2" + ALNUM[:43].lower()),
    ("docker", "dckr_pat_" + ALNUM[:27]),
    ("artifactory", "AKCp" + ALNUM[:69]),
    ("clojars", "CLOJARS_" + HEX[:60]),
    ("open-vsx", "ovsxp_" + UUID),
    ("sonar", "sqp_" + HEX[:40]),
    ("sourcegraph", "sgp_" + HEX[:16] + "_" + HEX[:40]),
    ("circleci", "CCIPAT_" + ALNUM[:22] + "_" + HEX[:40]),
    ("buildkite", "bkua_" + HEX[:40]),
    ("prefect", "pnu_" + ALNUM[:36]),
    ("octopus", "API-" + UPPER[:26]),
    ("snyk", "snyk_uat." + HEX[:8] + "." + ALNUM[:60]),
    ("linear", "lin_api_" + ALNUM[:40]),
    ("readme", "rdme_" + ALNUM[:70]),
    ("postman", "PMAK-" + HEX[:24] + "-" + HEX[:34]),
    ("figma", "figd_" + ALNUM[:40]),
    ("stripe", "sk_live_" + ALNUM[:24]),
    ("webhook-secret", "whsec_" + ALNUM[:32]),
    ("square", "sq0atp-" + ALNUM[:22]),
    ("square", "EAAA" + ALNUM[:40]),
    ("braintree", "access_token$production$" + HEX[:16] + "$" + HEX[:32]),
    ("plaid", "access-sandbox-" + UUID),
    ("razorpay", "rzp_live_" + ALNUM[:14]),
    ("flutterwave", "FLWSECK_TEST-" + HEX[:32] + "-X"),
    ("payment-key", "live_" + HEX[:35]),
    ("duffel", "duffel_live_" + ALNUM[:43]),
    ("shippo", "shippo_live_" + HEX[:40]),
    ("easypost", "EZAK" + ALNUM[:54]),
    ("shopify", "shpat_" + HEX[:32]),
    ("slack", "xoxb-" + "260713594028-4713590286157-" + ALNUM[:24]),
    ("discord", "mfa." + ALNUM[:84]),
    ("sendgrid", "SG." + ALNUM[:22] + "." + ALNUM[:43]),
    ("mailgun", "key-" + HEX[:32]),
    ("mandrill", "md-" + ALNUM[:22]),
    ("brevo", "xkeysib-" + HEX + "-" + ALNUM[:16]),
    ("resend", "re_" + ALNUM[:8] + "_" + ALNUM[8:32]),
    ("hubspot", "pat-na1-" + UUID),
    ("onesignal", "os_v2_app_" + ALNUM[:103].lower()),
    ("facebook", "EAAM" + ALNUM[:120]),
    ("instagram", "IGQ" + ALNUM[:100]),
    ("twitter", "A" * 22 + ALNUM[:80]),
    ("twitch", "oauth:" + ALNUM[:30].lower()),
    ("notion", "ntn_" + ALNUM[:46]),
    ("typeform", "tfp_" + ALNUM[:59]),
    ("contentful", "CFPAT-" + ALNUM[:43]),
    ("dropbox", "sl." + ALNUM[:136]),
    ("adobe", "p8e-" + ALNUM[:32]),
    ("frameio", "fio-u-" + ALNUM[:64]),
    ("beamer", "b_" + ALNUM[:44]),
    ("mapbox", "sk.eyJ" + ALNUM[:60] + "." + ALNUM[:22]),
    ("intra42", "s-s4t2ud-" + HEX),
    ("settlemint", "sm_pat_" + ALNUM[:16]),
    ("authress", "sc_" + ALNUM[:10] + "." + ALNUM[:4] + ".acc-" + ALNUM[:12] + "." + ALNUM[:44]),
    # by shape
    ("jwt", "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiI0MiJ9." + ALNUM[:43]),
    ("azure-client-secret", "k4Z8Q~" + ALNUM[:34]),
    ("telegram", "7104582936:A" + ALNUM[:34]),
    ("discord", "MTk4" + ALNUM[:20] + "." + ALNUM[:6] + "." + ALNUM[:38]),
    ("mailchimp", HEX[:32] + "-us14"),
    ("facebook", "1402857391640527|" + ALNUM[:27]),
    ("airtable", "pat" + ALNUM[:14] + "." + HEX),
    ("asana", "1/1204857391640527:" + HEX[:32]),
    ("terraform", ALNUM[:14] + ".atlasv1." + ALNUM[:67]),
    ("maxmind", ALNUM[:6] + "_" + ALNUM[:29] + "_mmk"),
    ("twilio", "SK" + HEX[:32]),
]

STAND_INS = [
    "ghp_" + "x" * 36,
    "AIza" + "X" * 35,
    "sk-" + "your-api-key-goes-here-please",
    "hf_" + "my_model_card_" + "reader_with_a_long_name",
    "glpat-" + "0000000000-000000000",
    "npm_" + "abcdefghijklmnopqrstuvwxyz0123456789",
    "s." + "AcceptTimeoutInSeconds24",
    "re_" + "compile_all_of_these_patterns",
    "sk-" + "learn-contrib-imbalanced-ensemble",
]


@for_each(("kind", "token"), TOKENS)
def test_a_token_is_found_whole_with_its_kind_after_quotes_signs_and_escapes(kind: str, token: str) -> None:
    text = f"I put {token} into the file."
    assert [(finding.kind, text[finding.start : finding.end]) for finding in REDACTOR.findings(text)] == [(kind, token)]
    for before, after in (
        ('{"a": "', '"}'),
        ("X=", ";"),
        ("(", ")"),
        ("first\\n", "\\nnext"),
        ("q=1%3D", "&x=2"),
        ("", ""),
    ):
        assert token not in REDACTOR.redact(before + token + after)


def test_every_format_has_an_example_here() -> None:
    assert {each.kind for each in load_formats()} <= {kind for kind, _ in TOKENS}


@for_each("text", STAND_INS)
def test_placeholders_of_tokens_are_left_alone(text: str) -> None:
    assert REDACTOR.redact(text) == text


def test_a_token_inside_a_word_or_base64_is_ignored() -> None:
    inside_word = "the task-" + "learner-with-a-very-long-name-2 and disksk-" + ALNUM[:24]
    inside_base64 = "AbC1" * 12 + "AKIA" + UPPER[:16]
    assert REDACTOR.findings(inside_word) == []
    assert REDACTOR.findings(inside_base64) == []


def test_adjacent_tokens_are_two_findings() -> None:
    first, second = "ghp_" + ALNUM[:36], "glpat-" + ALNUM[:20]
    assert [finding.kind for finding in REDACTOR.findings(f"{first},{second}")] == ["github", "gitlab"]
