"""Keys of payment, mail, chat, content and commerce services. Source: each provider's public key documentation."""

from __future__ import annotations

from skilld.redact.formats.base import ALNUM, BASE64, DOTTED, HEX, HEX_DASH, URL, WORD, Format

FORMATS = (
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
