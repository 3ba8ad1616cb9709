"""openai's client of Azure (Python): what it sends is what the gateway sends. It calls
the fake provider directly, the same is asked of the gateway, and the requests that
arrived are compared.
"""

import json

import httpx
import openai

from contract import FAKE, FAKE_KEY, KEY, ORIGIN, TIMEOUT, WEATHER, case, equal, main

VERSION = "2024-10-21"  # of the classic API, as the gateway's provider has it

options = {"max_retries": 0, "timeout": TIMEOUT}
classic = openai.AzureOpenAI(azure_endpoint=FAKE + "/azure", api_key=FAKE_KEY, api_version=VERSION, **options)
v1 = openai.AzureOpenAI(base_url=FAKE + "/azure/openai/v1", api_key=FAKE_KEY, api_version="v1", **options)
gateway = openai.OpenAI(base_url=ORIGIN + "/v1", api_key=KEY, **options)


def sent():
    """The last request that the fake provider received, with its headers by name."""
    last = httpx.get(FAKE + "/_control/requests", timeout=TIMEOUT).json()[-1]
    return last | {"headers": {name.lower(): value for name, value in last["headers"]}}


def same(direct, provider, ask, query=True):
    """Asks both, and compares path, query, credential and body."""
    ask(direct, "echo")
    theirs = sent()
    ask(gateway, f"{provider}/echo")
    ours = sent()
    want = theirs["path"] if query else theirs["path"].split("?")[0]
    equal(ours["path"], want, "path")
    equal(json.loads(ours["body"]), json.loads(theirs["body"]), "body")
    for name in "api-key", "authorization", "content-type":
        equal(ours["headers"].get(name), theirs["headers"].get(name), name)
    equal(ours["headers"]["api-key"], FAKE_KEY, "key")


def chat(stream):
    more = {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
    messages = [{"role": "user", "content": 'h\u00fc "quoted"'}]

    def ask(client, model):
        answer = client.chat.completions.create(model=model, messages=messages, tools=[WEATHER], max_completion_tokens=50, **more)
        if stream:
            list(answer)

    return ask


@case()
def a_deployment_gets_what_azures_client_sends():
    for stream in False, True:
        same(classic, "azure-classic", chat(stream))
    same(classic, "azure-classic", lambda client, model: client.embeddings.create(model=model, input="h\u00fc", encoding_format="float"))


@case()
def the_v1_api_gets_what_azures_client_sends_but_for_the_version():
    same(v1, "azure", lambda client, model: client.responses.create(model=model, input="h\u00fc"), query=False)


if __name__ == "__main__":
    main()
