// openai (npm): chat completions and responses at /v1. Its .stream() helpers
// check the order and the ids of events and throw.

import assert from "node:assert/strict";
import OpenAI from "openai";
import {
	ACTIVITY_KEY, BROKEN, CLOUDS, EMBED_MODEL, KEY, MODEL, ORIGIN, PERSON, PNG, TARGET, TIMEOUT, TOOLS_MODEL, UNCALLABLE, WEATHER,
	ask, caught, collect, echo, find, main, pick, test, testFake,
} from "./contract.mjs";

const client = (apiKey = KEY) =>
	new OpenAI({ baseURL: `${ORIGIN}/v1`, apiKey, maxRetries: 0, timeout: TIMEOUT });
const gateway = client();

const chat = (body) => gateway.chat.completions.create({ model: MODEL, messages: ask("hello"), ...body });
const textOf = (chunks) => chunks.map((c) => c.choices[0]?.delta.content ?? "").join("");

test("the procedure with chat", async () => {
	const model = pick((await collect(gateway.models.list())).map((m) => m.id));
	const reply = await gateway.chat.completions.create({ model, messages: ask("hello from js") });
	console.log(`# ${reply.model} says ${reply.choices[0].message.content}`);
	assert.equal(reply.choices[0].message.content, echo("hello from js"));
	assert.equal(reply.model, model);
	await find(reply._request_id, model, {
		status: 200,
		prompt_tokens: reply.usage.prompt_tokens,
		completion_tokens: reply.usage.completion_tokens,
	});
});

test("the procedure with responses", async () => {
	const model = pick((await collect(gateway.models.list())).map((m) => m.id));
	const reply = await gateway.responses.create({ model, input: "hello from js" });
	console.log(`# ${reply.model} says ${reply.output_text}`);
	assert.equal(reply.output_text, echo("hello from js"));
	assert.equal(reply.model, model);
	await find(reply._request_id, model, { status: 200, prompt_tokens: reply.usage.input_tokens });
});

test("each model can be retrieved", async () => {
	assert.equal((await gateway.models.retrieve(MODEL)).id, MODEL);
});

testFake("a text is spoken", async () => {
	const speak = (body) => gateway.audio.speech.create({ model: MODEL, voice: "alloy", input: "ten and ten characte", ...body });
	const reply = await speak({ response_format: "pcm" });
	assert.equal((await reply.arrayBuffer()).byteLength, 96_000);
	await find(reply.headers.get("x-request-id"), MODEL, { status: 200, stream: false });
	assert.match(await (await speak({ stream_format: "sse" })).text(), /speech\.audio\.done/);
	await assert.rejects(async () => (await speak({ model: "fake/cut-mid-stream" })).arrayBuffer());
});

testFake("a sound is written", async () => {
	const file = new File(["RIFF".repeat(1000)], "a.wav");
	const write = (body) => gateway.audio.transcriptions.create({ file, model: MODEL, prompt: "ann", ...body });
	assert.equal((await write()).text, "You said: ann");
	assert.equal((await write({ response_format: "verbose_json" })).segments[0].text, "You said: ann");
	for (const response_format of ["text", "srt", "vtt"]) assert.match(await write({ response_format }), /You said: ann/);
	const events = await collect(await write({ stream: true }));
	assert.equal(events.slice(0, -1).map((e) => e.delta).join(""), "You said: ann");
	assert.equal(events.at(-1).usage.input_tokens, 14);
	assert.equal((await gateway.audio.translations.create({ file, model: MODEL, prompt: "ann" })).text, "You said: ann");
	assert.ok((await caught(() => write({ model: UNCALLABLE }))) instanceof OpenAI.NotFoundError);
});

test("embeddings come as floats and in base64", async () => {
	const embed = (body) => gateway.embeddings.create({ model: EMBED_MODEL, input: ["a b", "c"], ...body });
	const reply = await embed(); // the client asks for base64, and decodes it
	const floats = await embed({ encoding_format: "float", dimensions: 64 });
	assert.equal(reply.model, EMBED_MODEL);
	assert.deepEqual(reply.data.map((d) => d.embedding.length), [64, 64]);
	reply.data.forEach((d, i) => d.embedding.forEach((v, n) => assert.ok(Math.abs(v - floats.data[i].embedding[n]) < 1e-6)));
	assert.equal(typeof (await embed({ encoding_format: "base64" })).data[0].embedding, "string");
	await find(reply._request_id, EMBED_MODEL, { status: 200, prompt_tokens: 3, completion_tokens: 0 });
	assert.equal((await embed({ input: [[1, 2], [3]], encoding_format: "float" })).data.length, 2);
	const e = await caught(() => embed({ stream: true }));
	assert.ok(e instanceof OpenAI.BadRequestError && e.param === "stream", String(e));
	assert.ok((await caught(() => embed({ model: UNCALLABLE }))) instanceof OpenAI.NotFoundError);
});

testFake("pictures are made and edited", async () => {
	const asked = { model: MODEL, prompt: "a red fox" };
	const reply = await gateway.images.generate({ ...asked, n: 2 });
	assert.deepEqual(reply.data.map((p) => p.b64_json), ["a red fox", "a red fox"]);
	await find(reply._request_id, MODEL, { status: 200, completion_tokens: 544, images: 2 });
	const types = async (stream) => (await collect(stream)).map((e) => e.type);
	assert.deepEqual(await types(await gateway.images.generate({ ...asked, stream: true, partial_images: 1 })), ["image_generation.partial_image", "image_generation.completed"]);
	const file = (text) => new File([Buffer.from(`\x89PNG\r\n${text}`)], `${text}.png`, { type: "image/png" });
	for (const more of [{ image: file("one") }, { image: [file("one"), file("two")], n: 2 }, { image: file("one"), mask: file("mask") }]) {
		const edited = await gateway.images.edit({ ...more, ...asked });
		assert.deepEqual(edited.data.map((p) => p.b64_json), Array(more.n ?? 1).fill("a red fox"));
	}
	assert.deepEqual(await types(await gateway.images.edit({ image: file("one"), ...asked, stream: true })), ["image_edit.completed"]);
	const e = await caught(() => gateway.images.edit({ ...asked, image: file("one"), n: 0 }));
	assert.ok(e instanceof OpenAI.BadRequestError && e.param === "n", String(e));
});

test("chat streams", async () => {
	const { data, response } = await chat({ messages: ask("a b c d"), stream: true }).withResponse();
	const chunks = await collect(data);
	assert.equal(textOf(chunks), echo("a b c d"));
	assert.deepEqual([...new Set(chunks.map((c) => c.model))], [MODEL]);
	assert.deepEqual(chunks.filter((c) => c.usage), []);
	assert.deepEqual(chunks.map((c) => c.choices[0].finish_reason).filter(Boolean), ["stop"]);
	await find(response.headers.get("x-request-id"), MODEL, { status: 200, stream: true });
});

test("chat streams usage when asked", async () => {
	const chunks = await collect(await chat({ stream: true, stream_options: { include_usage: true } }));
	assert.deepEqual(chunks.filter((c) => c.usage).map((c) => c.choices), [[]]);
	assert.ok(chunks.at(-1).usage.total_tokens > 0);
});

test("the chat helper accumulates", async () => {
	const stream = gateway.chat.completions.stream({ model: MODEL, messages: ask("helped along") });
	const final = await stream.finalChatCompletion();
	assert.equal(final.choices[0].message.content, echo("helped along"));
	assert.equal(final.model, MODEL);
});

test("tools go round", async () => {
	const messages = ask("what is the weather?");
	const shared = { model: TOOLS_MODEL, tools: [WEATHER] };
	for (const first of [
		await gateway.chat.completions.create({ ...shared, messages }),
		await gateway.chat.completions.stream({ ...shared, messages }).finalChatCompletion(),
	]) {
		const { finish_reason, message } = first.choices[0];
		assert.equal(finish_reason, "tool_calls");
		assert.ok("city" in JSON.parse(message.tool_calls[0].function.arguments));
		const results = message.tool_calls.map((c) => ({ role: "tool", tool_call_id: c.id, content: "sunny" }));
		const second = await gateway.chat.completions.create({ ...shared, messages: [...messages, message, ...results] });
		assert.equal(second.choices[0].finish_reason, "stop");
		assert.ok(second.choices[0].message.content);
	}
});

test("json schema output", async () => {
	const json_schema = { name: "person", strict: true, schema: PERSON };
	const reply = await chat({ response_format: { type: "json_schema", json_schema } });
	assert.deepEqual(Object.keys(JSON.parse(reply.choices[0].message.content)).sort(), ["age", "name"]);
});

test("images are accepted", async () => {
	const content = [{ type: "text", text: "look" }, { type: "image_url", image_url: { url: PNG } }];
	const reply = await chat({ messages: [{ role: "user", content }] });
	assert.ok(reply.choices[0].message.content.startsWith(echo("look")));
});

// storedResponses is what the routes about a stored response show, but for ids.
async function storedResponses(sdk, model) {
	const texts = [["user", "one"], ["assistant", "two"], ["user", "three"]].map(([role, content]) => ({ role, content }));
	const { responses } = sdk;
	const first = await responses.create({ model, input: texts });
	const shown = await responses.retrieve(first.id, { include: ["message.output_text.logprobs"] });
	assert.deepEqual([shown.id, shown.output_text, shown.model], [first.id, first.output_text, model]);
	const items = (await collect(responses.inputItems.list(first.id, { limit: 2, order: "asc" }))).map((i) => i.content[0].text);
	const newest = (await responses.inputItems.list(first.id, { limit: 1 })).data[0].content[0].text;
	const count = await responses.inputTokens.count({ model, input: "one two three" });
	const compacted = await responses.compact({ model, previous_response_id: first.id, instructions: "be short" });
	const again = await responses.create({ model, input: [...compacted.output, texts[0]] });
	const cancelled = await responses.cancel((await responses.create({ model, input: "in the background" })).id);
	const refused = await caught(() => responses.cancel(first.id));
	assert.ok(refused instanceof OpenAI.BadRequestError);
	await responses.delete(first.id);
	for (const call of ["retrieve", "cancel", "delete"]) assert.ok((await caught(() => responses[call](first.id))) instanceof OpenAI.NotFoundError);
	return {
		text: shown.output_text, items, newest, count, status: cancelled.status, again: again.output_text, compacted: compacted.output.map((i) => i.type),
		object: compacted.object, usage: compacted.usage, refused: /background=true/.test(refused.message),
	};
}

testFake("stored responses are those of the provider", async () => {
	const direct = new OpenAI({ baseURL: `${process.env.FAKE_ORIGIN}/v1`, apiKey: process.env.FAKE_API_KEY, maxRetries: 0, timeout: TIMEOUT });
	const want = await storedResponses(direct, "echo");
	assert.deepEqual([want.items, want.newest], [["one", "two", "three"], "three"]);
	assert.deepEqual(await storedResponses(gateway, MODEL), want);
});

test("responses stream", async () => {
	const events = await collect(await gateway.responses.create({ model: MODEL, input: "a b", stream: true }));
	assert.equal(events[0].type, "response.created");
	assert.equal(events.at(-1).type, "response.completed");
	assert.deepEqual(events.map((e) => e.sequence_number), [...events.keys()]);
	for (const e of events) if (e.response) assert.equal(e.response.model, MODEL);
});

test("the responses helper validates every event", async () => {
	const final = await gateway.responses.stream({ model: MODEL, input: "one two three" }).finalResponse();
	assert.equal(final.output_text, echo("one two three"));
	assert.equal(final.model, MODEL);
});

test("the helpers take a provider that does not stream", async () => {
	const model = ["test", ...CLOUDS].includes(TARGET) ? MODEL : `${TARGET}/no-stream`;
	const chatted = await gateway.chat.completions.stream({ model, messages: ask("a b") }).finalChatCompletion();
	assert.equal(chatted.choices[0].message.content, echo("a b"));
	const reply = await gateway.responses.stream({ model, input: "a b" }).finalResponse();
	assert.equal(reply.output_text, echo("a b"));
});

test("a wrong key is 401", async () => {
	const e = await caught(() => client("gh-" + "x".repeat(43)).models.list());
	assert.ok(e instanceof OpenAI.AuthenticationError, e);
	assert.deepEqual([e.status, e.code], [401, "invalid_api_key"]);
});

test("a key without the scope is 403", async () => {
	const e = await caught(() => client(ACTIVITY_KEY).responses.create({ model: MODEL, input: "x" }));
	assert.ok(e instanceof OpenAI.PermissionDeniedError, e);
	assert.deepEqual([e.status, e.code], [403, "insufficient_scope"]);
});

test("models that cannot be called are 404", async () => {
	for (const model of [`${TARGET}/no-such-model`, "no-such-provider/echo", UNCALLABLE]) {
		for (const call of [
			() => chat({ model }),
			() => chat({ model, stream: true }),
			() => gateway.responses.create({ model, input: "x" }),
			() => gateway.models.retrieve(model),
		]) {
			const e = await caught(call);
			assert.ok(e instanceof OpenAI.NotFoundError, e);
			assert.match(e.code, /^model_not_(found|callable)$/);
			assert.ok(e.requestID);
		}
	}
});

test("a missing model is 400", async () => {
	const e = await caught(() => chat({ model: undefined }));
	assert.ok(e instanceof OpenAI.BadRequestError, e);
	assert.deepEqual([e.code, e.param], ["missing_required_parameter", "model"]);
});

testFake("the provider's errors are classes", async () => {
	for (const [model, kind, status] of [
		["fake/err-429", OpenAI.RateLimitError, 429],
		["fake/err-500", OpenAI.InternalServerError, 502],
		["fake/err-400", OpenAI.BadRequestError, 400],
	]) {
		const e = await caught(() => chat({ model }));
		assert.ok(e instanceof kind, `${model}: ${e}`);
		assert.equal(e.status, status);
	}
});

testFake("a stream that breaks never looks whole", async () => {
	const kinds = new Set();
	for (const name of BROKEN) {
		const body = { model: `fake/${name}`, messages: ask("a b c d"), stream: true };
		const e = await caught(async () => collect(await gateway.chat.completions.create(body)));
		assert.ok([OpenAI.APIError, OpenAI.InternalServerError].includes(e.constructor), `${name}: ${e}`);
		kinds.add(e.constructor);
	}
	assert.ok(kinds.has(OpenAI.APIError), "no error inside a stream");
	for (const name of ["cut-mid-stream", "cut-clean", "err-mid-stream"]) {
		const e = await caught(() => gateway.responses.stream({ model: `fake/${name}`, input: "a b c d" }).finalResponse());
		assert.ok(e instanceof OpenAI.OpenAIError, `${name}: ${e}`);
	}
});

await main();
