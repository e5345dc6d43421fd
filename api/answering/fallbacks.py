"""Why there is no written answer: the closed list of codes, and what each tells the user."""

from enum import StrEnum


class FallbackCode(StrEnum):
    """Why the quotes themselves are the answer although a language model is configured."""

    UNREACHABLE = "llm_unreachable"
    TIMEOUT = "llm_timeout"
    BUSY = "llm_busy"
    UNAUTHORIZED = "llm_unauthorized"
    NOT_FOUND = "llm_not_found"
    RATE_LIMITED = "llm_rate_limited"
    SERVER_ERROR = "llm_server_error"
    REJECTED = "llm_rejected"
    REDIRECTED = "llm_redirected"
    INVALID_RESPONSE = "llm_invalid_response"
    BROKEN_OFF = "llm_broken_off"
    TOO_LONG = "llm_too_long"
    QUESTION_TOO_LONG = "question_too_long"
    NOT_ANSWERED = "not_answered"
    NOTHING_CITED = "nothing_cited"
    EMPTY = "empty_answer"


_QUOTES = "The answer is the quotes themselves."

MESSAGES = {
    FallbackCode.UNREACHABLE: "The language model cannot be reached. "
    "Check PINCITE_LLM_BASE_URL, and that its server runs.",
    FallbackCode.TIMEOUT: "The language model took too long. "
    "Ask again, or raise PINCITE_LLM_FIRST_TOKEN_SECONDS and PINCITE_LLM_ANSWER_SECONDS.",
    FallbackCode.BUSY: "The language model is writing as many answers as it may (PINCITE_LLM_AT_ONCE). "
    "Ask again in a moment.",
    FallbackCode.UNAUTHORIZED: "The language model's server refused the key. Check PINCITE_LLM_API_KEY.",
    FallbackCode.NOT_FOUND: "The language model's server does not know this model or address. "
    "Check PINCITE_LLM_MODEL and PINCITE_LLM_BASE_URL.",
    FallbackCode.RATE_LIMITED: "The language model's server takes no more requests for now. Ask again later.",
    FallbackCode.SERVER_ERROR: "The language model's server failed. Ask again later, or look at its log.",
    FallbackCode.REJECTED: "The language model's server did not take the request. "
    "The log of the API says what it answered.",
    FallbackCode.REDIRECTED: "The language model's server points to another address, which is not followed. "
    "Set PINCITE_LLM_BASE_URL to the final one.",
    FallbackCode.INVALID_RESPONSE: "What came from the language model's address is no answer of a chat model. "
    "Check PINCITE_LLM_BASE_URL; most end in /v1.",
    FallbackCode.BROKEN_OFF: "The language model broke off in the middle of its answer. Ask again.",
    FallbackCode.TOO_LONG: "The language model's answer came to no end and was cut off. Ask for less at once.",
    FallbackCode.QUESTION_TOO_LONG: "The question is too long for the language model. Shorten it.",
    FallbackCode.NOT_ANSWERED: "The language model found no answer in these passages. "
    "They came closest: judge for yourself.",
    FallbackCode.NOTHING_CITED: "The language model cited none of the passages, so what it wrote is not shown.",
    FallbackCode.EMPTY: "The language model wrote nothing.",
}

# What may pass within seconds; tried once more as long as no text came.
MAY_PASS = frozenset(
    {FallbackCode.UNREACHABLE, FallbackCode.TIMEOUT, FallbackCode.RATE_LIMITED, FallbackCode.SERVER_ERROR}
)


class NoWrittenAnswer(Exception):
    """There is no written answer; `code` says why to the user, the message to the log (by `endpoint.told`)."""

    def __init__(self, code: FallbackCode, detail: str = "") -> None:
        self.code = code
        super().__init__(detail or code.value)


def message_of(code: FallbackCode) -> str:
    """What the user is told."""
    return f"{MESSAGES[code]} {_QUOTES}"
