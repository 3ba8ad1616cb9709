"""openrouter (Python): embeddings, documents, pictures and sounds. Against "direct", which is the
fake provider without a gateway, it proves the fake; against "rt", which is OpenRouter, and "fake",
which is OpenAI, it proves the gateway.
"""

import asyncio
import base64
import json

import httpx
from openrouter import OpenRouter, errors
from openrouter.utils import BackoffStrategy, RetryConfig

import contract
from contract import FAKE, FAKE_KEY, KEY, ORIGIN, PNG, TARGET, UNCALLABLE, case, echo, equal, find, raises

DIRECT = TARGET == "direct"
SOUND = b"RIFF" * 1000
_last = {}


def _keep(response):
    _last["headers"] = response.headers


async def _keep_async(response):
    _keep(response)


def name(model):
    return model if DIRECT else f"{TARGET}/{model}"


MODEL = name("echo")
gateway = OpenRouter(
    api_key=FAKE_KEY if DIRECT else KEY,
    server_url=(FAKE if DIRECT else ORIGIN) + "/api/v1",
    retry_config=RetryConfig("none", BackoffStrategy(1, 1, 1.0, 1), False),
    timeout_ms=contract.TIMEOUT * 1000,
    client=httpx.Client(event_hooks={"response": [_keep]}),
    async_client=httpx.AsyncClient(event_hooks={"response": [_keep_async]}),
)


def recorded(model=None, **fields):
    """Finds the row of the last call."""
    if not DIRECT:
        find(_last["headers"]["x-request-id"], model or MODEL, **{"status": 200} | fields)


def not_found(fn):
    """A model that cannot be called."""
    if not DIRECT:
        raises(errors.NotFoundResponseError, fn, 404)


@case()
def embeddings():
    reply = gateway.embeddings.generate(model=MODEL, input=["a b", "c"], dimensions=8)
    recorded(prompt_tokens=3, completion_tokens=0)
    equal([len(d.embedding) for d in reply.data], [8, 8], "lengths")
    equal(reply.model, MODEL, "model")
    coded = gateway.embeddings.generate(model=MODEL, input="a b", encoding_format="base64")
    assert isinstance(coded.data[0].embedding, str)


@case()
def documents_are_ranked():
    asked = {"query": "red", "documents": ["a", "red", {"text": "b"}], "top_n": 2}
    reply = gateway.rerank.rerank(model=MODEL, **asked)
    recorded()
    first, second = (None, None) if TARGET == "fake" else ("a", "red")  # Cohere sends none
    equal([(r.index, r.relevance_score, r.document.text) for r in reply.results], [(0, 0, first), (1, 1, second)], "results")
    equal(reply.model, MODEL, "model")
    if TARGET != "fake":  # Cohere's units stand elsewhere
        equal(reply.usage.search_units, 1, "search units")
    not_found(lambda: gateway.rerank.rerank(model=UNCALLABLE, **asked))


@case(only="direct rt")
def pictures_are_made():
    reference = {"type": "image_url", "image_url": {"url": PNG}}
    reply = gateway.images.generate(model=MODEL, prompt="a red fox", n=2, input_references=[reference])
    recorded(images=2, completion_tokens=544)
    equal([(p.b64_json, p.media_type) for p in reply.data], [("a red fox", "image/png")] * 2, "pictures")
    equal((reply.usage.prompt_tokens, reply.usage.completion_tokens), (10, 544), "usage")
    not_found(lambda: gateway.images.generate(model=UNCALLABLE, prompt="a"))


@case(only="direct rt")
def pictures_are_streamed():
    def kinds(model):
        with gateway.images.generate(model=name(model), prompt="a red fox", stream=True) as events:
            return list(events)

    seen = kinds("echo")
    equal([(e.type, e.b64_json) for e in seen], [("image_generation.completed", "a red fox")], "events")
    equal(seen[0].usage.completion_tokens, 272, "usage")
    recorded(stream=True, images=1)
    if not DIRECT:
        # A provider that does not stream answers with the whole.
        equal([(e.type, e.b64_json) for e in kinds("no-stream")], [("image_generation.completed", "a red fox")], "events")
        try:
            end = kinds("err-mid-stream")[-1]
        except errors.BadGatewayResponseError:
            return
        equal(end.type, "error", "the last event")
        assert end.error.message, end


@case(only="fake")
def pictures_have_an_api_of_their_own():
    e = raises(errors.NotFoundResponseError, lambda: gateway.images.generate(model=MODEL, prompt="a"), 404)
    assert "images" in e.data.error.message, e.data.error.message


@case()
def a_text_is_spoken():
    asked = {"model": MODEL, "input": "ten and ten characte", "voice": "alloy"}
    sound = b"".join(gateway.tts.create_speech(**asked).iter_bytes())
    equal(len(sound), 96_000, "bytes of pcm, which is the default")
    equal(_last["headers"]["content-type"], "audio/pcm", "type")
    recorded(stream=False)
    spoken = gateway.tts.create_speech(**asked, response_format="mp3")
    assert b"".join(spoken.iter_bytes()).startswith(b"\xff\xf3")
    equal(_last["headers"]["content-type"], "audio/mpeg", "type")

    async def apart():
        answer = await gateway.tts.create_speech_async(**asked)
        return b"".join([piece async for piece in answer.aiter_bytes()])

    equal(asyncio.run(apart()), sound, "the same sound")
    not_found(lambda: gateway.tts.create_speech(**asked | {"model": UNCALLABLE}))


@case()
def a_sound_is_written():
    data = {"data": base64.b64encode(SOUND).decode(), "format": "wav"}
    if TARGET != "fake":  # OpenAI takes forms only
        equal(gateway.stt.create_transcription(model=MODEL, input_audio=data).text, echo(""), "text")
        recorded()
        not_found(lambda: gateway.stt.create_transcription(model=UNCALLABLE, input_audio=data))
    file = {"file_name": "a.wav", "content": SOUND}
    asked = {"model": MODEL, "file": file, "language": "en", "temperature": 0.5}
    reply = gateway.stt.create_transcription_multipart(**asked, timestamp_granularities=["word", "segment"])
    recorded()
    equal(reply.text, echo(""), "text")
    assert reply.usage, reply
    reply = gateway.stt.create_transcription_multipart(**asked, response_format="verbose_json")
    equal([s.text for s in reply.segments], [echo("")], "segments")
    not_found(lambda: gateway.stt.create_transcription_multipart(**asked | {"model": UNCALLABLE}))


@case(only="direct rt")
def a_chat_has_pictures():
    asked = {
        "model": MODEL,
        "messages": [{"role": "user", "content": "a fox"}],
        "modalities": ["image", "text"],
        "image_config": {"aspect_ratio": "16:9"},
    }
    message = gateway.chat.send(**asked).choices[0].message
    recorded()
    equal(message.content, echo("a fox"), "text")
    assert [i.image_url.url[:22] for i in message.images] == ["data:image/png;base64,"], message
    if not DIRECT:  # the SDK does not show the pictures of a stream
        chunks = contract.chunks("/api/v1/chat/completions", asked | {"stream": True})
        deltas = [c["choices"][0]["delta"] for c in chunks if c["choices"]]
        urls = [i["image_url"]["url"] for d in deltas for i in d.get("images", [])]
        equal(urls, [message.images[0].image_url.url], "pictures of the stream")
        sent = json.loads(contract.upstream('"aspect_ratio"')[-1]["body"])
        equal((sent["modalities"], sent["image_config"]), (asked["modalities"], asked["image_config"]), "what the provider got")


if __name__ == "__main__":
    contract.main()
