"""openrouter (Python) and the gateway's refusals, with the SDK's own retries."""

import httpx
from openrouter import OpenRouter, errors
from openrouter.utils import retries

import contract
import refusals
from contract import ORIGIN, equal

CLASSES = {
    400: errors.BadRequestResponseError,
    401: errors.UnauthorizedResponseError,
    402: errors.PaymentRequiredResponseError,
    403: errors.ForbiddenResponseError,
    404: errors.NotFoundResponseError,
    413: errors.PayloadTooLargeResponseError,
    422: errors.UnprocessableEntityResponseError,
    429: errors.TooManyRequestsResponseError,
    502: errors.BadGatewayResponseError,
    503: errors.ServiceUnavailableResponseError,
}


HTTP = httpx.Client(timeout=contract.TIMEOUT)


def perform(call):
    outcome = refusals.Outcome()
    client = OpenRouter(api_key=call["secret"], server_url=ORIGIN + "/api/v1", client=HTTP)
    kwargs = {"max_completion_tokens": call["tokens"]} if call["tokens"] else {}

    def once():
        """Returns the error in the last chunk of a stream, which nothing raises."""
        outcome.pieces.clear()
        answer = client.chat.send(
            model=call["model"],
            messages=[{"role": "user", "content": call["text"]}],
            stream=call["streamed"],
            **kwargs,
        )
        if not call["streamed"]:
            outcome.answered += 1
            return None
        with answer as chunks:
            seen = list(chunks)
        outcome.pieces += [c.choices[0].delta.content or "" for c in seen if c.choices]
        if seen[-1].error:
            equal(seen[-1].choices[0].finish_reason, "error", "finish reason")
        else:
            outcome.answered += 1
        return seen[-1].error

    for _ in range(call["before"]):
        equal(once(), None, "error before")
    with refusals.clock_in(retries, "time", refusals.Clock, call) as clock:
        try:
            for _ in refusals.attempts(call, clock):
                inside = once()
        except errors.OpenRouterError as e:
            inside = None
            outcome.error = e
    outcome.waits = clock.waits
    if inside:
        print("#", "no exception, chunk.error:", inside)
        outcome.error = inside
        describe(call, outcome, inside)
    elif outcome.error:
        e = outcome.error
        print("#", type(e).__name__, len(clock.waits), e)
        equal(type(e), CLASSES[call["status"]], "class")
        equal(e.status_code, call["status"], "status")
        describe(call, outcome, e.data.error)
        outcome.headers, outcome.request_id = e.headers, e.headers["x-request-id"]
        assert e.headers["x-generation-id"].startswith("gen-"), e.headers
    return outcome


def describe(call, outcome, error):
    """Checks the error object of a body or of a chunk."""
    equal(error.code, call["status"], "code")
    outcome.message = error.message
    metadata = error.metadata if isinstance(error.metadata, dict) else error.metadata.model_dump()
    equal(metadata["error_type"], call["error_type"], "error_type")
    if not call["inside"]:
        equal(metadata.get("param"), refusals.param_of(call), "param")
        equal(metadata.get("limit_source"), refusals.limit_of(call), "limit_source")
        equal(metadata.get("reasons"), call["reasons"], "reasons")


refusals.register(perform)
contract.main()
