"""Keys of code hosts, package registries and build services. Source: each provider's public key documentation."""

from __future__ import annotations

from skilld.redact.formats.base import ALNUM, BASE64, DIGIT_UPPER, DOTTED, HEX, HEX_DASH, URL, WORD, Format

FORMATS = (
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
