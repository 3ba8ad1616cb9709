"""What the gateway sends to a target is what the types of the target's vendor describe, and what it
answers is what those of the caller's vendor do. FILE is what the test of all pairs of APIs wrote
(internal/modelcall/allpairs_test.go), a call in each line. Requests may have no member that the types
do not name: neither pydantic nor the SDKs check that.

Usage: pairs_suite.py FILE openai|anthropic|google|botocore…
"""

import collections.abc
import functools
import json
import re
import sys
import types
import typing
import warnings

import typing_extensions

from contract import case, main

with open(sys.argv[1], encoding="utf-8") as file:
    CALLS = [json.loads(line) for line in file]
KNOWN = {}  # what only types refuse, by case and target: whether one of its calls was refused


class Refused(Exception):
    pass


@functools.cache
def hints(kind):
    return typing_extensions.get_type_hints(kind, include_extras=True)


def check(value, kind, path):
    """Raises Refused unless the value is of a type of Python as SDKs write it for requests."""
    origin, args = typing_extensions.get_origin(kind), typing_extensions.get_args(kind)
    if origin in (typing_extensions.Required, typing_extensions.NotRequired, typing_extensions.Annotated):
        return check(value, args[0], path)
    if isinstance(kind, typing_extensions.TypeAliasType):
        return check(value, kind.__value__, path)
    if kind in (typing.Any, object):
        return None
    if origin in (typing.Union, types.UnionType):
        return check_union(value, args, path)
    if origin is typing_extensions.Literal:
        good = value in args
    elif typing_extensions.is_typeddict(kind):
        return check_members(value, kind, path)
    elif origin is dict or origin in (collections.abc.Mapping,):
        if good := isinstance(value, dict):
            for key, inner in value.items():
                check(inner, args[1], f"{path}.{key}")
    elif origin is not None and issubclass(origin, collections.abc.Iterable) or hasattr(origin, "_is_protocol"):
        if good := isinstance(value, list):
            for i, inner in enumerate(value):
                check(inner, args[0], f"{path}[{i}]")
    elif kind is float:
        good = isinstance(value, (int, float)) and not isinstance(value, bool)
    elif kind is int:
        good = isinstance(value, int) and not isinstance(value, bool)
    elif kind is type(None):
        good = value is None
    elif isinstance(kind, type):
        good = isinstance(value, kind)
    else:
        raise TypeError(f"{path}: no rule for the type {kind!r}")
    if not good:
        raise Refused(f"{path}: {value!r:.80} is not {kind!r:.120}")
    return None


def check_union(value, options, path):
    """Of several errors, that of the option with the value's own type is told."""
    told = None
    for option in options:
        try:
            return check(value, option, path)
        except Refused as error:
            told = error if told is None or f"{path}.type:" not in str(error) else told
    raise told


def check_members(value, kind, path):
    if not isinstance(value, dict):
        raise Refused(f"{path}: {value!r:.80} is not {kind.__name__}")
    names = hints(kind)
    for name in ["type", *names]:  # the type first: it says which of several the value is
        if name in value and name in names:
            check(value[name], names[name], f"{path}.{name}")
    for name in value:
        if name not in names:
            raise Refused(f"{path}.{name}: {kind.__name__} has no such member")
    for name in kind.__required_keys__:
        if name not in value:
            raise Refused(f"{path}.{name} is missing: {kind.__name__} requires it")


def of(params, name, body):
    """The type of a whole or of a streamed request."""
    return getattr(params, name + ("Streaming" if body.get("stream") else "NonStreaming"))


def openai():
    from openai.types import chat, responses

    def sent_chat(call):
        check(call["sent"], of(chat.completion_create_params, "CompletionCreateParams", call["sent"]), "request")

    def sent_responses(call):
        check(call["sent"], of(responses.response_create_params, "ResponseCreateParams", call["sent"]), "request")

    sent = {"chat": sent_chat, "responses": sent_responses}
    answers = {
        "chat": (chat.ChatCompletion, chat.ChatCompletionChunk),
        "responses": (responses.Response, responses.ResponseStreamEvent),
    }
    return sent, answers


def anthropic():
    from anthropic.types import Message, RawMessageStreamEvent, message_create_params

    def sent(call):
        check(call["sent"], of(message_create_params, "MessageCreateParams", call["sent"]), "request")

    def sent_to_cloud(call):
        """The platforms name the version in the body, and the model in the address."""
        body = {k: v for k, v in call["sent"].items() if k not in ("anthropic_version", "anthropic_beta")}
        sent({"sent": {"model": "m", **body}})

    clouds = {"claude-on-bedrock": sent_to_cloud, "claude-on-vertex": sent_to_cloud}
    return {"messages": sent, **clouds}, {"messages": (Message, RawMessageStreamEvent)}


def google():
    from google.genai import types as genai

    parts = {
        "contents": [genai.Content],
        "systemInstruction": genai.Content,
        "tools": [genai.Tool],
        "toolConfig": genai.ToolConfig,
        "generationConfig": genai.GenerationConfig,
        "safetySettings": [genai.SafetySetting],
    }

    def sent(call):
        for name, value in call["sent"].items():
            if name not in parts:
                raise Refused(f"request.{name}: there is no such member")
            kind, values = parts[name], [value]
            if isinstance(kind, list):
                kind, values = kind[0], value
            for inner in values:
                kind.model_validate_json(json.dumps(inner))

    return {"gemini": sent, "gemini-2.5": sent}, {}


def botocore():
    from botocore.session import get_session
    from botocore.validate import ParamValidator

    service = get_session().get_service_model("bedrock-runtime")

    def constraints(value, shape, path):
        """Lengths, patterns and values of the model, which the validator does not check."""
        if shape.type_name == "structure" and not getattr(shape, "is_document_type", False):
            for name, inner in value.items():
                constraints(inner, shape.members[name], f"{path}.{name}")
        elif shape.type_name == "list":
            for i, inner in enumerate(value):
                constraints(inner, shape.member, f"{path}[{i}]")
        if shape.type_name in ("string", "list"):
            limits = shape.metadata
            if len(value) > limits.get("max", len(value)) or len(value) < limits.get("min", 0):
                raise Refused(f"{path}: {len(value)} of {shape.name}, whose limits are {limits}")
            if shape.type_name == "string" and "pattern" in limits and not re.fullmatch(limits["pattern"], value):
                raise Refused(f"{path}: {value!r:.80} is not {limits['pattern']} ({shape.name})")
            if shape.type_name == "string" and getattr(shape, "enum", None) and value not in shape.enum:
                raise Refused(f"{path}: {value!r:.80} is none of {shape.enum} ({shape.name})")

    def sent(call):
        shape = service.operation_model("ConverseStream" if call["stream"] else "Converse").input_shape
        params = {"modelId": "amazon.echo", **call["sent"]}
        report = ParamValidator().validate(params, shape)
        if report.has_errors():
            raise Refused(report.generate_report())
        constraints(params, shape, "request")

    return {"converse": sent}, {}


@functools.cache
def reader_of(kind):
    import pydantic

    return pydantic.TypeAdapter(kind)


def check_answer(call, whole, event):
    """Reads an answer as the SDK does, but strictly."""
    if not call["stream"]:
        reader_of(whole).validate_json(call["answer"])
        return
    reader = reader_of(event)
    for line in call["answer"].splitlines():
        if line.startswith("data: ") and line != "data: [DONE]":
            data = json.loads(line[6:])
            if data.get("type") != "ping":
                reader.validate_python(data)


def failures(select, judge):
    """Judges calls, and returns what is wrong with those whose faults are not known."""
    found = []
    for call in CALLS:
        if not select(call):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # of google-genai: values that it does not know
                judge(call)
        except Exception as error:
            if call["types"]:
                KNOWN[call["case"], call["caller"], call["target"]] = True
            elif not call["known"]:
                how = "streamed" if call["stream"] else "whole"
                pair = f"{call['case']}: {call['caller']}>{call['target']} {how}"
                found.append(f"{pair}: {error}\n   {json.dumps(call['sent'])[:600]}")
    return found


def must_refuse(target, judge):
    """A judge that takes anything would prove nothing: a member that no type has is put into the request,
    and into each object of its conversation."""
    calls = [c for c in CALLS if c["target"] == target and not c["known"]]
    tried = 0
    for call in calls[:20]:
        sent = call["sent"]
        for place in [sent, *(sent.get("messages") or sent.get("contents") or sent.get("input"))]:
            place["invented"] = 1
            try:
                judge(call)
            except Exception:
                tried += 1
            else:
                raise AssertionError(f"takes {json.dumps(sent)[:600]}")
            finally:
                del place["invented"]
    if not tried:
        raise AssertionError(f"no calls of {target} in {sys.argv[1]}")


def register(name, run):
    def named():
        run()

    named.__name__ = name
    case()(named)


def register_judge(name, select, judge):
    def run():
        found = failures(select, judge)
        if found:
            raise AssertionError(f"{len(found)} calls\n" + "\n".join(found))

    register(name, run)


for vendor in sys.argv[2:]:
    requests, answers = {"openai": openai, "anthropic": anthropic, "google": google, "botocore": botocore}[vendor]()
    for target, judge in requests.items():
        KNOWN.update({(c["case"], c["caller"], target): False for c in CALLS if c["types"] and c["target"] == target})
        register(
            f"the types of {vendor} refuse what they do not have, sent to {target}",
            functools.partial(must_refuse, target, judge),
        )
        register_judge(
            f"requests to {target} are of the types of {vendor}", lambda c, t=target: c["target"] == t, judge
        )
    for caller, kinds in answers.items():
        register_judge(
            f"answers to {caller} are of the types of {vendor}",
            lambda c, a=caller: c["caller"] == a,
            lambda c, k=kinds: check_answer(c, *k),
        )


@case()
def what_is_known_only_shrinks():
    mended = [key for key, seen in KNOWN.items() if not seen]
    if mended:
        raise AssertionError(f"remove them from knownToTypes of allpairs_known_test.go: {mended}")


main()
