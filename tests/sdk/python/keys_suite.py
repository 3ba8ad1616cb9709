"""openrouter (Python): keys that are made at run time, the key of the caller and
the credits of its tenant."""

import datetime
import os
import time
import uuid

import httpx
from openrouter import OpenRouter, errors
from openrouter.utils import BackoffStrategy, RetryConfig

import contract
from contract import KEY, ORIGIN, case, equal, raises

NO_RETRY = RetryConfig("none", BackoffStrategy(1, 1, 1.0, 1), False)
MANAGER_KEY = os.environ["GATEWAY_MANAGER_KEY"]  # keys:manage
MODEL = "test/echo"
PAGE = 100
UTC = datetime.timezone.utc


def client(key=MANAGER_KEY):
    return OpenRouter(
        api_key=key,
        server_url=ORIGIN + "/api/v1",
        retry_config=NO_RETRY,
        timeout_ms=contract.TIMEOUT * 1000,
    )


manager = client()
keys = manager.api_keys


def say(key, text="hello"):
    return client(key).chat.send(model=MODEL, messages=[{"role": "user", "content": text}])


def refused(key):
    """Waits while a gateway of a cluster may not know that the key has ended. The gateways are asked in turn."""
    end = time.monotonic() + float(os.environ.get("GATEWAY_NEWS_TIME") or 0)
    times = 0
    while times < 4 and time.monotonic() < end:
        try:
            say(key)
            times = 0
        except errors.UnauthorizedResponseError:
            times += 1
    raises(errors.UnauthorizedResponseError, lambda: say(key), 401)


@case()
def the_example_of_the_manual():
    printed = contract.example("docs/keys.md", "api_keys", {"MANAGER_KEY": MANAGER_KEY})
    assert printed.startswith("gh-"), printed
    (made,) = keys.list(include_disabled=True).data
    equal((made.name, made.disabled), ("Ada", True))
    keys.delete(hash=made.hash)


@case()
def the_life_of_a_key():
    made = keys.create(name="life")
    assert made.key.startswith("gh-"), made.key
    equal((made.data.name, made.data.disabled, made.data.limit), ("life", False, None))
    equal(made.data.label, made.key[:6] + "..." + made.key[-3:], "label")
    equal(say(made.key).choices[0].message.content, contract.echo("hello"))

    hash = made.data.hash
    equal(keys.get(hash=hash).data.name, "life")
    changed = keys.update(hash=hash, name="renamed", disabled=True)
    equal((changed.data.name, changed.data.disabled), ("renamed", True))
    refused(made.key)
    keys.update(hash=hash, disabled=False)
    say(made.key)
    equal(keys.delete(hash=hash).DELETED, True)
    refused(made.key)
    for again in (keys.get, keys.delete, keys.update):
        raises(errors.NotFoundResponseError, lambda: again(hash=hash), 404)


@case()
def a_limit_and_its_end():
    made = keys.create(name="limits", limit=2.5, limit_reset="daily", include_byok_in_limit=True)
    got = made.data
    equal((got.limit, got.limit_remaining, got.limit_reset), (2.5, 2.5, "daily"))
    equal(got.include_byok_in_limit, True)
    equal((got.usage, got.usage_daily, got.usage_weekly, got.usage_monthly), (0, 0, 0, 0))
    got = keys.update(hash=got.hash, limit=None, limit_reset=None).data
    equal((got.limit, got.limit_remaining, got.limit_reset), (None, None, None))
    got = keys.update(hash=got.hash, limit=1e-09).data
    equal((got.limit, got.limit_remaining), (1e-09, 1e-09), "the least limit")
    got = keys.update(hash=got.hash, limit=0).data
    equal((got.limit, got.limit_remaining), (0, 0), "no money")
    # Without a price nothing can be reserved under a limit.
    raises(errors.PaymentRequiredResponseError, lambda: say(made.key), 402)
    keys.delete(hash=got.hash)


@case()
def when_a_key_expires():
    naive = datetime.datetime(2099, 1, 1)
    for at in (naive, naive.replace(tzinfo=UTC)):
        got = keys.create(name="expires", expires_at=at).data
        equal(got.expires_at, naive.replace(tzinfo=UTC), "expires_at")
        keys.delete(hash=got.hash)
    east = naive.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
    for at in (east, datetime.datetime(2020, 1, 1)):
        raises(errors.BadRequestResponseError, lambda: keys.create(name="x", expires_at=at), 400)


@case()
def whose_key_it_is():
    got = keys.create(name="owned", creator_user_id="user_1").data
    equal(got.creator_user_id, "user_1")
    uuid.UUID(got.workspace_id)
    again = keys.create(name="owned", workspace_id=got.workspace_id).data
    equal([again.workspace_id, again.name], [got.workspace_id, "owned"])
    foreign = str(uuid.uuid4())
    equal(keys.list(workspace_id=foreign).data, [], "another tenant's keys")
    error = raises(
        errors.OpenRouterDefaultError, lambda: keys.create(name="x", workspace_id=foreign), 404
    )
    assert "workspace" in error.body, error.body
    for key in (got, again):
        keys.delete(hash=key.hash)


@case()
def many_keys_by_offset():
    made = [keys.create(name=f"many {i}").data.hash for i in range(250)]
    keys.update(hash=made[0], disabled=True)
    listed = []
    while page := keys.list(offset=len(listed)).data:
        assert len(page) <= PAGE, len(page)
        listed += [key.hash for key in page]
    equal(listed, made[:0:-1], "the list, newest first")
    every = keys.list(offset=200, include_disabled=True).data
    equal([key.hash for key in every], made[49::-1], "with the disabled one")
    for hash in made:
        keys.delete(hash=hash)
    equal(keys.list(include_disabled=True).data, [], "what is left")


@case()
def refusals():
    raises(errors.BadRequestResponseError, lambda: keys.create(name=""), 400)
    raises(errors.BadRequestResponseError, lambda: keys.create(name="x", limit=-1), 400)
    raises(errors.ForbiddenResponseError, lambda: client(KEY).api_keys.create(name="x"), 403)
    raises(errors.UnauthorizedResponseError, lambda: client("gh-none-of-ours").api_keys.list(), 401)
    raises(errors.NotFoundResponseError, lambda: keys.get(hash="a/b"), 404)
    raises(errors.ForbiddenResponseError, lambda: client(KEY).credits.get_credits(), 403)


@case()
def the_key_of_the_caller():
    got = keys.get_current_key_metadata().data
    equal((got.is_management_key, got.is_provisioning_key), (True, True))
    made = keys.create(name="current", limit=3, limit_reset="monthly")
    got = client(made.key).api_keys.get_current_key_metadata().data
    equal((got.label, got.limit, got.limit_reset), (made.data.label, 3, "monthly"))
    equal((got.is_management_key, got.is_provisioning_key), (False, False))
    keys.delete(hash=made.data.hash)


@case()
def the_credits():
    got = manager.credits.get_credits().data
    equal(got.total_credits - got.total_usage, 1_000_000, "what is left without a budget")


@case()
def beyond_the_SDK():
    """What the SDK cannot send: the slash of the guide's example, extensions, the
    rotation, an Idempotency-Key."""

    def ask(method, path, body=None, **headers):
        headers["Authorization"] = f"Bearer {MANAGER_KEY}"
        return httpx.request(method, ORIGIN + path, json=body, headers=headers, timeout=contract.TIMEOUT)

    for wrong in ({"limit_reset": "hourly"}, {"external": {"api_key": "x"}}, {"scopes": ["keys:manage"]}):
        answer = ask("POST", "/api/v1/keys", {"name": "x"} | wrong)
        equal((answer.status_code, answer.json()["error"]["metadata"]["param"]), (400, next(iter(wrong))))
    body = {"name": "plain", "models": ["test/*"], "external": {"user": "u-1"}}
    answer = ask("POST", "/api/v1/keys/", body, **{"Idempotency-Key": "one"})
    equal(answer.status_code, 201, answer.text)
    made = answer.json()
    hash = made["data"]["hash"]
    equal((made["data"]["models"], made["data"]["external_user"]), (["test/*"], "u-1"))
    again = ask("POST", "/api/v1/keys", body, **{"Idempotency-Key": "one"})
    equal(again.status_code, 400)
    assert hash in again.text and made["key"] not in again.text, again.text
    rotated = ask("POST", f"/api/v1/keys/{hash}/rotate", {"grace": "1h"})
    equal(rotated.status_code, 201, rotated.text)
    equal(rotated.json()["data"]["hash"], hash)
    for secret in (made["key"], rotated.json()["key"]):
        say(secret)
    last = ask("POST", f"/api/v1/keys/{hash}/rotate").json()["key"]
    say(last)
    refused(rotated.json()["key"])
    keys.delete(hash=hash)


contract.main()
