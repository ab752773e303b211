"""The token formats skilld knows, by area. To add one: a line here, and one in the test's table."""

from __future__ import annotations

from typing import NamedTuple

# What a token format is: a prefix that its issuer documents, and what may follow it. Pure data.

DIGIT_UPPER = "A-Z0-9"
HEX = "0-9a-fA-F"
HEX_DASH = r"0-9a-fA-F\-"
ALNUM = "A-Za-z0-9"
WORD = "A-Za-z0-9_"
URL = r"A-Za-z0-9_\-"  # base64url without padding
DOTTED = r"A-Za-z0-9_.=\-"
BASE64 = r"A-Za-z0-9+/=_\-"


class Format(NamedTuple):
    """Tokens of one issuer: any of `prefixes`, then at least `least` characters of `alphabet` (a regex class body).

    `prefixes` are separated by blanks. `opaque` asks that the rest looks made by a machine: for prefixes so short that
    an ordinary name may begin with them. `repeats` tells that even one character over and over makes a key.
    """

    kind: str
    prefixes: str
    alphabet: str
    least: int
    opaque: bool = False
    repeats: bool = False


# Keys of payment, mail, chat, content and commerce services. Source: each provider's public key documentation.

BUSINESS = (
    Format("stripe", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ sk_sbox_", ALNUM, 10),
    Format("webhook-secret", "whsec_", BASE64, 24),
    Format("square", "sq0atp- sq0csp-", URL, 22),
    Format("square", "EAAA", URL, 22, opaque=True),
    Format("braintree", "access_token$production$ access_token$sandbox$", "a-z0-9$", 40),
    Format("plaid", "access-sandbox- access-development- access-production-", HEX_DASH, 36),
    Format("razorpay", "rzp_live_ rzp_test_", ALNUM, 14),
    Format("flutterwave", "FLWPUBK_TEST- FLWPUBK- FLWSECK_TEST- FLWSECK- FLWSECK_TEST", ALNUM + r"\-", 12),
    Format("payment-key", "live_ test_ sandbox_", URL, 30, opaque=True),  # Lob, Mollie, GoCardless
    Format("duffel", "duffel_live_ duffel_test_", DOTTED, 40),
    Format("shippo", "shippo_live_ shippo_test_", ALNUM, 40),
    Format("easypost", "EZAK EZTK", ALNUM, 54),
    Format("shopify", "shpat_ shpca_ shppa_ shpss_ shptka_ shpua_", ALNUM, 32),
    Format("slack", "xoxb- xoxp- xoxa- xoxo- xoxs- xoxr- xoxd- xoxc- xoxe- xoxe. xapp-", BASE64 + ".%", 18),
    Format("discord", "mfa.", URL, 80),
    Format("sendgrid", "SG.", DOTTED, 60),
    Format("mailgun", "key- pubkey-", HEX, 32),
    Format("mandrill", "md-", URL, 20, opaque=True),
    Format("brevo", "xkeysib- xsmtpsib-", URL, 60),
    Format("resend", "re_", WORD, 24, opaque=True),
    Format("hubspot", "pat-na1- pat-na2- pat-eu1- pat-ap1-", HEX_DASH, 36),
    Format("onesignal", "os_v2_app_ os_v2_org_", ALNUM, 80),
    Format("facebook", "EAA", URL, 50, opaque=True),  # also Square, which begins with EAAA
    Format("instagram", "IGQ", URL, 60, opaque=True),
    Format("twitter", "AAAAAAAAAAAAAAAAAAAA", WORD + "%", 60),
    Format("twitch", "oauth:", ALNUM, 30, opaque=True),
    Format("notion", "ntn_", ALNUM, 40),
    Format("notion", "secret_", ALNUM, 40, opaque=True),
    Format("typeform", "tfp_", DOTTED, 40),
    Format("contentful", "CFPAT-", URL, 40),
    Format("dropbox", "sl.", DOTTED, 60, opaque=True),
    Format("adobe", "p8e-", ALNUM, 32),
    Format("frameio", "fio-u-", DOTTED, 50),
    Format("beamer", "b_", DOTTED, 44, opaque=True),
    Format("mapbox", "pk.eyJ sk.eyJ tk.eyJ", DOTTED, 50),
    Format("intra42", "s-s4t2ud- s-s4t2af-", HEX, 64),
    Format("settlemint", "sm_pat_ sm_aat_ sm_sat_", ALNUM, 16),
    Format("authress", "sc_ ext_ scauth_ authress_", DOTTED, 60, opaque=True),
)


# Keys of clouds, databases, networks and monitoring. Source: each provider's public key documentation.

CLOUD = (
    Format("aws-access-key", "AKIA ASIA ABIA ACCA", DIGIT_UPPER, 16, repeats=True),
    Format("aws-access-key", "A3T", DIGIT_UPPER, 17, opaque=True),
    Format("aws-bedrock", "ABSK", BASE64, 100),
    Format("aws-bedrock", "bedrock-api-key-", BASE64, 20),
    Format("google-oauth", "GOCSPX- ya29.", DOTTED, 20),
    Format("google-oauth", "1//0", URL, 40),
    Format("alibaba", "LTAI", ALNUM, 16),
    Format("tencent", "AKID", ALNUM, 32, opaque=True),
    Format("yandex", "AQVN", URL, 35, opaque=True),
    Format("yandex", "t1.9eu y0_A", DOTTED, 40),
    Format("digitalocean", "dop_v1_ doo_v1_ dor_v1_", HEX, 60),
    Format("cloudflare", "v1.0-", HEX_DASH, 100),
    Format("heroku", "HRKU-", URL, 36),
    Format("fly", "fm1r_ fm1a_ fm2_ fo1_", BASE64 + ",", 40),
    Format("netlify", "nfp_", ALNUM, 30),
    Format("vercel", "vcp_ vci_ vca_ vcr_ vck_", WORD, 24, opaque=True),
    Format("render", "rnd_", ALNUM, 20, opaque=True),
    Format("scalingo", "tk-us-", URL, 40),
    Format("neon", "napi_", ALNUM, 40),
    Format("supabase", "sbp_ sb_secret_", URL, 30),
    Format("planetscale", "pscale_tkn_ pscale_oauth_ pscale_pw_ pscale_app_", DOTTED, 30),
    Format("databricks", "dapi dkea dose dsapi", HEX_DASH, 32, opaque=True),
    Format("mongodb", "mdb_sa_sk_", URL, 30),
    Format("confluent", "cflt/", BASE64, 50),
    Format("clickhouse", "4b1d", ALNUM, 38, opaque=True),
    Format("aiven", "AVNS_", URL, 18, opaque=True),
    Format("cockroach", "CCDB1_", WORD, 40),
    Format("elastic", "essu_", BASE64, 40),
    Format("vault", "hvs. hvb. hvr.", URL, 24),
    Format("vault", "s.", ALNUM, 24, opaque=True),
    Format("pulumi", "pul-", HEX, 40),
    Format("doppler", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", DOTTED, 40),
    Format("harness", "pat. sat.", DOTTED, 60, opaque=True),
    Format("infracost", "ico-", ALNUM, 32),
    Format("openshift", "sha256~", URL, 40),
    Format("docker-swarm", "SWMTKN-1-", URL, 50),
    Format("tailscale", "tskey-", URL, 20),
    Format("defined-networking", "dnkey-", DOTTED, 60),
    Format("dynatrace", "dt0c01. dt0s01. dt0s02. dt0s08. dt0s16.", DIGIT_UPPER + ".", 60),
    Format("grafana", "glsa_ glc_ eyJrIjoi", BASE64, 32),
    Format("new-relic", "NRAK- NRAA- NRJS- NRII- NRIQ- NRRA- NRSP-", URL, 18),
    Format("sentry", "sntrys_ sntryu_ sntryi_", BASE64, 40),
    Format("posthog", "phx_ phs_", ALNUM, 40),
    Format("honeycomb", "hcaik_ hcbik_ hcamk_", ALNUM, 40),
    Format("axiom", "xaat- xapt-", HEX_DASH, 36),
    Format("rootly", "rootly_", HEX, 60),
    Format("launchdarkly", "api- sdk- mob-", HEX_DASH, 36, opaque=True),
    Format("age", "AGE-SECRET-KEY-1", DIGIT_UPPER, 50, repeats=True),
    Format("1password", "ops_eyJ", BASE64, 60),
    Format("1password", "A3-", DIGIT_UPPER + r"\-", 30),
)


# Keys of code hosts, package registries and build services. Source: each provider's public key documentation.

CODE = (
    Format("github", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", WORD, 30),
    Format(
        "gitlab",
        "glpat- gldt- glft- glsoat- glrt- glrtr- glcbt- glffct- glwt- GR1348941",
        DOTTED,
        20,
    ),
    Format("gitlab", "glimt-", URL, 25),
    Format("gitlab", "glptt-", URL, 40),
    Format("gitlab", "glagent-", URL, 50),
    Format("gitlab", "gloas-", URL, 64),
    Format("gitlab", "_gitlab_session=", ALNUM, 32),
    Format("bitbucket", "ATBB", ALNUM, 28, opaque=True),
    Format("bitbucket", "BBDC-", BASE64, 40),
    Format("atlassian", "ATATT3 ATCTT3", DOTTED, 60),
    Format("trello", "ATTA", HEX, 60),
    Format("npm", "npm_", ALNUM, 36),
    Format("pypi", "pypi-AgEIcHlwaS5vcmc pypi-AgENdGVzdC5weXBpLm9yZw", URL, 64),
    Format("rubygems", "rubygems_", ALNUM, 48),
    Format("crates", "cio", ALNUM, 32, opaque=True),
    Format("nuget", "oy2", "a-z0-9", 43),
    Format("docker", "dckr_pat_ dckr_oat_", URL, 20),
    Format("artifactory", "AKCp", ALNUM, 60),
    Format("artifactory", "cmVmdGtu", ALNUM, 50),
    Format("clojars", "CLOJARS_", ALNUM, 60),
    Format("open-vsx", "ovsxp_ ovsxat_", HEX_DASH, 36),
    Format("sonar", "squ_ sqp_ sqa_", ALNUM, 40),
    Format("sourcegraph", "sgp_ sgd_", WORD, 40),
    Format("circleci", "CCIPAT_ CCIPRJ_", WORD, 30),
    Format("buildkite", "bkua_", HEX, 40),
    Format("prefect", "pnu_ pnb_", ALNUM, 36),
    Format("octopus", "API-", DIGIT_UPPER, 26, opaque=True),
    Format("snyk", "snyk_uat.", DOTTED, 30),
    Format("linear", "lin_api_ lin_oauth_", ALNUM, 32),
    Format("readme", "rdme_", ALNUM, 60),
    Format("postman", "PMAK-", URL, 50),
    Format("figma", "figd_ figu_ figoh_ figor_", URL, 30),
)


# Keys of model providers and of the tools around them. Source: each provider's public key documentation.

MODELS = (
    Format("anthropic", "sk-ant-", URL, 20),
    Format("openrouter", "sk-or-", URL, 20),
    Format("langfuse", "sk-lf-", URL, 20),
    Format("openai", "sk-proj- sk-svcacct- sk-admin- sk-None-", URL, 20),
    Format("openai", "sk-", URL, 20, opaque=True),  # also DeepSeek, Moonshot and others
    Format("google-api-key", "AIza", URL, 35),
    Format("huggingface", "hf_ api_org_", ALNUM, 30, opaque=True),
    Format("replicate", "r8_", ALNUM, 30),
    Format("groq", "gsk_", ALNUM, 40),
    Format("xai", "xai-", ALNUM, 60),
    Format("perplexity", "pplx-", ALNUM, 30),
    Format("nvidia", "nvapi-", URL, 40),
    Format("cerebras", "csk-", ALNUM, 40),
    Format("fireworks", "fw_", ALNUM, 20, opaque=True),
    Format("together", "tgp_v1_", URL, 30),
    Format("tavily", "tvly-", URL, 20),
    Format("firecrawl", "fc-", HEX, 32),
    Format("pinecone", "pcsk_", WORD, 30),
    Format("voyage", "pa-", URL, 40, opaque=True),
    Format("jina", "jina_", WORD, 40),
    Format("langsmith", "lsv2_pt_ lsv2_sk_ ls__", WORD, 30),
    Format("elevenlabs", "sk_", HEX, 40),
    Format("anyscale", "esecret_", ALNUM, 20),
    Format("wandb", "wandb_v1_", WORD, 30),
    Format("cursor", "key_", HEX, 60),
    Format("runpod", "rpa_", ALNUM, 40),
    Format("e2b", "e2b_", HEX, 40),
    Format("apify", "apify_api_", ALNUM, 30),
    Format("llamaindex", "llx-", ALNUM, 40),
    Format("mem0", "m0-", ALNUM, 36, opaque=True),
)


FORMATS: tuple[Format, ...] = (*MODELS, *CLOUD, *CODE, *BUSINESS)

__all__ = ["FORMATS", "Format"]
