"""Keys of model providers and of the tools around them. Source: each provider's public key documentation."""

from __future__ import annotations

from skilld.redact.formats.base import ALNUM, HEX, URL, WORD, Format

FORMATS = (
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
