"""The example control plane of docs/deploy with the reference verifier of Standard Webhooks: what
the gateway signs, and what it makes of the answers."""

import os
import pathlib
import sys
import threading
from http.server import ThreadingHTTPServer

import httpx
from standardwebhooks import Webhook, WebhookVerificationError

import contract
from contract import ORIGIN, case, equal, raises

sys.path.append(str(pathlib.Path(__file__).parents[3] / "docs" / "deploy"))
import control_plane  # noqa: E402

SECRET, OLD = os.environ["GATEWAY_SOURCE_SECRET"], os.environ["GATEWAY_SOURCE_OLD_SECRET"]
questions = []  # bodies and headers


class Handler(control_plane.Handler):
    def do_POST(self):
        length = int(self.headers["Content-Length"])
        body = self.rfile.peek(length)[:length]
        questions.append((body, dict(self.headers)))
        super().do_POST()

    def log_message(self, *_):
        pass


def ask(name, method="POST", path="/vnc"):
    return httpx.request(
        method,
        f"{ORIGIN}/v1/workstations{name and '/' + name}{path}",
        headers={"Authorization": f"Bearer {os.environ['GATEWAY_DESK_KEY']}"},
        timeout=contract.TIMEOUT,
        trust_env=False,
    )


def refused(name, status, code):
    answer = ask(name)
    equal((answer.status_code, answer.json()["error"]["code"]), (status, code))
    return answer


@case()
def the_verifier_takes_what_the_gateway_signs():
    control_plane.DESKS["desk1"]["keys"] = ["desk"]
    answer = ask("desk1")
    equal(answer.status_code, 200, answer.text)
    assert answer.json()["vnc_url"].endswith(".vnc.localhost:5900"), answer.text
    body, headers = questions[-1]
    for secret in (SECRET, OLD):  # while it is rotated, either has verified it
        question = Webhook(secret).verify(body, headers)
        equal((question["type"], question["workstation_id"], question["caller"]["key"]), ("workstation.resolve", "desk1", "desk"))


@case()
def the_verifier_refuses_another_body_an_old_time_and_another_secret():
    refused("nowhere", 404, "not_found")
    body, headers = questions[-1]
    raises(WebhookVerificationError, lambda: Webhook(SECRET).verify(body.replace(b"nowhere", b"desk1"), headers))
    late = {k: str(int(v) - 301) if k.lower() == "webhook-timestamp" else v for k, v in headers.items()}
    raises(WebhookVerificationError, lambda: Webhook(SECRET).verify(body, late))
    raises(WebhookVerificationError, lambda: Webhook("whsec_" + "A" * 32).verify(body, headers))


@case()
def its_answers_are_what_the_caller_gets():
    control_plane.DESKS["desk2"]["keys"] = ["desk"]
    starting = refused("desk2", 503, "workstation_starting")
    equal(starting.headers["Retry-After"], "20")
    control_plane.DESKS["desk3"] = {"keys": ["ada"]}
    denied = refused("desk3", 403, "workstation_denied")
    equal(denied.json()["error"]["message"], "This desktop is not booked for you.")
    listed = ask("", "GET", "").json()
    equal([w["workstation_id"] for w in listed["data"]], ["desk1", "desk2", "desk3"])


@case()
def a_control_plane_with_another_secret_gives_no_answer():
    os.environ["DESKTOPS_SECRET"] = "whsec_" + "A" * 32
    refused("desk4", 503, "source_unavailable")
    os.environ["DESKTOPS_SECRET"] = OLD
    refused("desk4", 404, "not_found")


os.environ["DESKTOPS_SECRET"] = SECRET
server = ThreadingHTTPServer(("127.0.0.1", int(os.environ["GATEWAY_SOURCE_PORT"])), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
contract.main()
