"""What SDKs send to clouds is what the gateway sends: the clients of Anthropic and
AWS call the fake provider directly, the same is asked of the gateway, and the
requests that arrived are compared. AWS' SDK checks the gateway's signatures."""

import base64
import json
from typing import get_type_hints
from urllib.parse import quote, unquote

import anthropic
import boto3
import httpx
from anthropic.types.beta.message_create_params import MessageCreateParamsBase as BetaMessageCreateParams
from anthropic.types.message_create_params import MessageCreateParamsBase as MessageCreateParams
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials

from contract import FAKE, FAKE_KEY, KEY, ORIGIN, TIMEOUT, WEATHER, case, echo, equal, main

REGION = "us-east-1"
ACCESS_KEY = "AKIDEXAMPLE"  # of the gateway, with FAKE_KEY
ARN = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/"
BETA = "context-1m-2025-08-07"



def aws(service, prefix):
    return boto3.client(
        service,
        region_name=REGION,
        endpoint_url=FAKE + prefix,
        aws_access_key_id="AKIDOTHER",
        aws_secret_access_key="other",
        config=Config(retries={"total_max_attempts": 1}, read_timeout=TIMEOUT),
    )


bedrock = aws("bedrock-runtime", "/bedrock")
claude_on_bedrock = anthropic.AnthropicBedrock(
    base_url=FAKE + "/claude",
    aws_region=REGION,
    aws_access_key="AKIDOTHER",
    aws_secret_key="other",
    max_retries=0,
    timeout=TIMEOUT,
)
claude_on_vertex = anthropic.AnthropicVertex(
    base_url=FAKE + "/claude/v1",
    region="global",
    project_id="p",
    access_token="token",
    max_retries=0,
    timeout=TIMEOUT,
)
gateway = anthropic.Anthropic(base_url=ORIGIN, api_key=KEY, max_retries=0, timeout=TIMEOUT)


def sent(cloud):
    """The last request that a cloud of the fake provider received."""
    answer = httpx.get(FAKE + "/_control/clouds", timeout=TIMEOUT)
    return answer.json()[cloud][-1]


def header(request, name):
    return request["header"].get(name, [""])[0]


def check_signature(request, prefix):
    """Signs what the gateway sent as AWS' SDK does, at the same time."""
    authorization = header(request, "Authorization")
    kind, _, fields = authorization.partition(" ")
    given = dict(field.strip().split("=", 1) for field in fields.split(","))
    date = header(request, "X-Amz-Date")
    names = given["SignedHeaders"].split(";")
    signed = {name: header(request, name.title()) for name in names if name != "host"}
    again = AWSRequest("POST", FAKE + prefix + request["path"], signed, request["body"].encode())
    again.context["timestamp"] = date
    auth = SigV4Auth(Credentials(ACCESS_KEY, FAKE_KEY), "bedrock", REGION)
    want = auth.signature(auth.string_to_sign(again, auth.canonical_request(again)), again)
    equal((kind, given["Signature"]), ("AWS4-HMAC-SHA256", want), "signature")
    scope = f"{ACCESS_KEY}/{date[:8]}/{REGION}/bedrock/aws4_request"
    equal(given["Credential"], scope, "scope of the signature")


def ask(path, **body):
    """Asks the gateway for what Bedrock has."""
    headers = {"Authorization": f"Bearer {KEY}", "anthropic-version": "2023-06-01"}
    answer = httpx.post(ORIGIN + path, json=body, headers=headers, timeout=TIMEOUT)
    equal(answer.status_code, 200, f"status of {answer.text}")


SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}

# What is asked: in the words of Converse, and of chat.
CONVERSATIONS = [
    (
        {
            "system": [{"text": "Be brief."}],
            "messages": [{"role": "user", "content": [{"text": 'h\u00fc "quoted"'}]}],
            "inferenceConfig": {"maxTokens": 50, "temperature": 0.5, "topP": 0.25, "stopSequences": ["x"]},
        },
        {
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": 'h\u00fc "quoted"'},
            ],
            "max_tokens": 50,
            "temperature": 0.5,
            "top_p": 0.25,
            "stop": ["x"],
        },
    ),
    (
        {
            "messages": [
                {"role": "user", "content": [{"text": "time?"}]},
                {"role": "assistant", "content": [
                    {"toolUse": {"toolUseId": "a", "name": "get_weather", "input": {"city": "K"}}},
                ]},
                {"role": "user", "content": [
                    {"toolResult": {"toolUseId": "a", "content": [{"text": "no"}], "status": "error"}},
                    {"image": {"format": "png", "source": {"bytes": b"\x89PNG"}}},
                ]},
            ],
            "toolConfig": {
                "tools": [{"toolSpec": {
                    "name": "get_weather",
                    "description": WEATHER["function"]["description"],
                    "inputSchema": {"json": WEATHER["function"]["parameters"]},
                }}],
                "toolChoice": {"any": {}},
            },
            "outputConfig": {"textFormat": {"type": "json_schema", "structure": {
                "jsonSchema": {"schema": json.dumps(SCHEMA, separators=(",", ":")), "name": "n"},
            }}},
            "serviceTier": {"type": "flex"},
        },
        {
            "messages": [
                {"role": "user", "content": "time?"},
                {"role": "assistant", "tool_calls": [
                    {
                        "id": "a",
                        "type": "function",
                        "function": {"name": "get_weather", "arguments": '{"city":"K"}'},
                    },
                ]},
                {"role": "tool", "tool_call_id": "a", "content": "no", "is_error": True},
                {"role": "user", "content": [
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
                ]},
            ],
            "tools": [WEATHER],
            "tool_choice": "required",
            "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}},
            "service_tier": "flex",
        },
    ),
]


@case()
def converse_gets_what_boto3_sends():
    for model in "us.amazon.echo:0", ARN + "us.amazon.echo":
        for converse, asked in CONVERSATIONS:
            for stream in False, True:
                if stream:
                    list(bedrock.converse_stream(modelId=model, **converse)["stream"])
                else:
                    bedrock.converse(modelId=model, **converse)
                theirs = sent("converse")
                ask("/v1/chat/completions", model=f"converse/{model}", stream=stream, **asked)
                ours = sent("converse")
                assert header(ours, "Authorization") != header(theirs, "Authorization")
                equal(ours["path"], theirs["path"], "path")
                equal(ours["path"].split("/")[2], quote(model, safe=""), "model in the path")
                equal(json.loads(ours["body"]), json.loads(theirs["body"]), "body")
                equal(header(ours, "Content-Type"), header(theirs, "Content-Type"), "content type")
                check_signature(ours, "/bedrock")


@case()
def boto3_reads_what_the_fake_answers():
    asked = [{"role": "user", "content": [{"text": "a b"}]}]
    whole = bedrock.converse(modelId="amazon.echo", messages=asked)
    equal(whole["output"]["message"]["content"][0]["text"], echo("a b"), "text")
    equal(whole["stopReason"], "end_turn", "stop reason")
    events = list(bedrock.converse_stream(modelId="amazon.echo", messages=asked)["stream"])
    text = "".join(e["contentBlockDelta"]["delta"]["text"] for e in events if "contentBlockDelta" in e)
    equal(text, echo("a b"), "streamed text")
    equal(list(events[-1]), ["metadata"], "last event")
    try:
        bedrock.converse(modelId="amazon.err-429", messages=asked)
    except bedrock.exceptions.ThrottlingException:
        return
    raise AssertionError("the fake's error is none of the SDK's")


def ask_claude(client, model, stream, **more):
    messages = client.beta.messages if "betas" in more else client.messages
    answer = messages.create(
        model=model,
        max_tokens=50,
        messages=[{"role": "user", "content": "h\u00fc"}],
        stream=stream,
        **more,
    )
    if stream:
        text = "".join(e.delta.text for e in answer if e.type == "content_block_delta")
    else:
        text = answer.content[0].text
    equal(text, echo("h\u00fc"), "text")


def check_claude(direct, provider, models, signed):
    for model in models:
        for stream in False, True:
            for more in {}, {"betas": [BETA], "system": "Be brief."}:
                ask_claude(direct, model, stream, **more)
                theirs = sent("claude")
                ask_claude(gateway, f"{provider}/{model}", stream, **more)
                ours = sent("claude")
                assert header(ours, "Authorization") != header(theirs, "Authorization")
                equal(unquote(ours["path"]), unquote(theirs["path"]).removesuffix("?beta=true"), "path")
                equal(json.loads(ours["body"]), json.loads(theirs["body"]), "body")
                if signed:  # beta features are in the body, too
                    check_signature(ours, "/claude")
                else:
                    equal(header(ours, "Anthropic-Beta"), header(theirs, "Anthropic-Beta"), "beta features")


@case()
def invoke_model_gets_what_anthropics_sdk_sends():
    models = ["us.anthropic.echo:0", ARN + "us.anthropic.echo"]
    check_claude(claude_on_bedrock, "claude-bedrock", models, True)


@case()
def vertex_gets_what_anthropics_sdk_sends():
    check_claude(claude_on_vertex, "claude-vertex", ["echo", "echo@20261001"], False)


@case()
def fields_of_beta_features_do_not_reach_clouds_without_them():
    beta = get_type_hints(BetaMessageCreateParams)
    fields = beta.keys() - get_type_hints(MessageCreateParams).keys() - {"betas"}
    assert len(fields) > 5, fields
    headers = {"Authorization": f"Bearer {KEY}", "anthropic-version": "2023-06-01"}
    for field in fields:
        value = [] if field in ("fallbacks", "mcp_servers") else {}
        for model in "claude-bedrock/us.anthropic.echo:0", "claude-vertex/echo":
            question = [{"role": "user", "content": "hi"}]
            body = {"model": model, "max_tokens": 50, "messages": question, field: value}
            answer = httpx.post(ORIGIN + "/v1/messages", json=body, headers=headers, timeout=TIMEOUT)
            if answer.status_code == 200:
                assert field not in json.loads(sent("claude")["body"]), f"{field} reached {model}"
            else:
                equal((answer.status_code, answer.json()["error"]["details"]["param"]), (400, field), answer.text)


@case()
def invoke_model_gets_embeddings_as_boto3_sends_them():
    model = "amazon.titan-embed-text-v2:0"
    body = {"inputText": "h\u00fc", "dimensions": 256}
    bedrock.invoke_model(modelId=model, body=json.dumps(body), contentType="application/json")
    theirs = sent("converse")
    ask("/v1/embeddings", model=f"converse/{model}", input="h\u00fc", dimensions=256)
    ours = sent("converse")
    equal(ours["path"], theirs["path"], "path")
    equal(json.loads(ours["body"]), body, "body")
    check_signature(ours, "/bedrock")


@case()
def tokens_are_counted_as_boto3_asks():
    base, profile = "anthropic.echo:0", "us.anthropic.echo:0"
    messages = [{"role": "user", "content": "h\u00fc"}]
    converse = {
        "system": [{"text": "Be brief."}],
        "messages": [{"role": "user", "content": [{"text": "h\u00fc"}]}],
    }
    invoked = {
        "system": "Be brief.",
        "messages": messages,
        "anthropic_version": "bedrock-2023-05-31",
        "max_tokens": 1,
    }
    for cloud, provider, prefix, asked in (
        ("converse", "converse", "/bedrock", {"converse": converse}),
        ("claude", "claude-bedrock", "/claude", {"invokeModel": {"body": json.dumps(invoked)}}),
    ):
        counted = aws("bedrock-runtime", prefix).count_tokens(modelId=base, input=asked)
        equal(counted["inputTokens"], 10, "tokens")
        theirs = sent(cloud)
        ask("/v1/messages/count_tokens", model=f"{provider}/{profile}", system="Be brief.", messages=messages)
        ours = sent(cloud)
        equal(ours["path"], theirs["path"], "path")
        equal(prompt(ours), prompt(theirs), "body")
        check_signature(ours, prefix)


def prompt(request):
    """What is counted, whose bytes InvokeModel's form encodes."""
    asked = json.loads(request["body"])["input"]
    if "invokeModel" in asked:
        return json.loads(base64.b64decode(asked["invokeModel"]["body"]))
    return asked


@case()
def boto3_reads_the_lists_where_the_gateway_does():
    # The fake has them at no other address than those that the gateway asks.
    control = aws("bedrock", "/bedrock")
    models = control.list_foundation_models(byInferenceType="ON_DEMAND")["modelSummaries"]
    equal(models[0]["modelId"], "amazon.echo", "model")
    first = control.list_inference_profiles(maxResults=1000)
    equal(first["inferenceProfileSummaries"][0]["inferenceProfileId"], "us.amazon.echo", "profile")
    following = control.list_inference_profiles(maxResults=1000, nextToken=first["nextToken"])
    equal(following["inferenceProfileSummaries"][0]["inferenceProfileId"], "eu.amazon.echo:0", "profile")


if __name__ == "__main__":
    main()
