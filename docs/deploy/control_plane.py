"""A control plane for desktops: it says who may have which, and where it is (docs/sources.md).

    pip install standardwebhooks
    DESKTOPS_SECRET=whsec_... python control_plane.py 8090
"""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

# The machine of each workstation: a database in a real control plane.
DESKS = {
    "desk1": {"address": "10.20.0.9:5901", "generation": "vm-7f3a", "password": "set-at-first-boot", "keys": ["ada"]},
    "desk2": {"address": None, "generation": None, "password": None, "keys": ["ada", "bob"]},
}


def resolve(question):
    desk = DESKS.get(question["workstation_id"])
    if desk is None:
        return {"decision": "unknown"}
    if question["caller"]["key"] not in desk["keys"]:
        return {"decision": "deny", "reason": "This desktop is not booked for you."}
    if desk["address"] is None:  # start the machine here
        return {"decision": "wait", "retry_after": 20, "reason": "The workstation is starting."}
    login = {"password": desk["password"]}
    return {"decision": "allow", "address": desk["address"], "generation": desk["generation"], "login": login}


def answer(question):
    if question["type"] == "workstation.resolve":
        return resolve(question)
    if question["type"] == "workstation.list":
        return {"items": [{"workstation_id": name} for name in DESKS]}
    return {"decision": "unknown"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            question = Webhook(os.environ["DESKTOPS_SECRET"]).verify(body, dict(self.headers))
        except WebhookVerificationError:
            return self.send_error(401)
        text = json.dumps(answer(question)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
