// @anthropic-ai/sdk (npm): the Messages API; the argument is the alias of a version.
// Against "direct", which is the fake provider without a gateway, it proves the fake.
//
// The SDK adds /v1/messages to the base URL. Its stream helper checks the order of
// events and throws.

import assert from "node:assert/strict";
import {
	ACTIVITY_KEY, KEY, ORIGIN, PNG, TARGET, TIMEOUT, UNCALLABLE, ask, caught, collect, echo, find, main, test,
} from "./contract.mjs";

const sdk = process.argv[2];
const { default: Anthropic } = await import(sdk);
const DIRECT = TARGET === "direct";
const NATIVE = DIRECT || TARGET === "anthropic"; // what it says is Anthropic's, not translated
const FAKE = process.env.FAKE_ORIGIN;
const HOST = DIRECT ? FAKE : ORIGIN;
const SECRET = DIRECT ? process.env.FAKE_API_KEY : KEY;
const VERSION = sdk.startsWith("anthropic-0.") ? "2023-06-01" : "2026-10-21";

const name = (model) => (DIRECT ? model : `${TARGET}/${model}`);
const client = (options) =>
	new Anthropic({ baseURL: HOST, apiKey: SECRET, maxRetries: 0, timeout: TIMEOUT, ...options });
const anthropic = client();

const request = (content, { model = "echo", ...more } = {}) =>
	({ model: name(model), max_tokens: 3000, messages: ask(content), ...more });
const create = (content, more) => anthropic.messages.create(request(content, more));
const textOf = (message) => message.content.map((b) => b.text ?? "").join("");

const TOOLS = [
	{
		name: "get_weather",
		description: "The weather of a city",
		input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
	},
	{ name: "get_time", input_schema: { type: "object", properties: { zone: { type: "string" } }, required: ["zone"] } },
];

// upstream is what the fake provider received with this text.
async function upstream(text) {
	const seen = await (await fetch(`${FAKE}/_control/requests`)).json();
	return seen.filter((r) => r.body.includes(text));
}

// plain is a message without what differs from call to call.
const plain = ({ role, model, content, stop_reason, stop_sequence, usage }) => ({
	role, model, stop_reason, stop_sequence,
	content: content.map(({ id, signature, parsed_output, ...b }) => b),
	tokens: [usage.input_tokens, usage.output_tokens],
});

test("a message is answered under both bases", async () => {
	for (const baseURL of [HOST, `${HOST}/api`]) {
		const reply = await client({ baseURL }).messages.create(request("hello from js"));
		assert.equal(textOf(reply), echo("hello from js"));
		assert.deepEqual([reply.type, reply.role, reply.stop_reason], ["message", "assistant", "end_turn"]);
		assert.equal(reply.model, name("echo"));
		assert.match(reply._request_id, /^req_/);
		assert.ok(reply.usage.input_tokens > 0 && reply.usage.output_tokens === 5, JSON.stringify(reply.usage));
		if (!DIRECT) await find(reply._request_id, name("echo"), { status: 200, stream: false });
	}
});

if (NATIVE) {
	test("the version reaches a native provider", async () => {
		await create("which version of js is this");
		const sent = Object.fromEntries((await upstream("which version of js is this")).at(-1).headers);
		assert.equal(sent["Anthropic-Version"], VERSION);
	});
}

test("events come in order", async () => {
	const seen = await collect(await create("a b c d", { stream: true }));
	const kinds = seen.map((e) => e.type).filter((t) => t !== "ping");
	assert.deepEqual(kinds.slice(0, 2), ["message_start", "content_block_start"]);
	assert.deepEqual(kinds.slice(-3), ["content_block_stop", "message_delta", "message_stop"]);
	assert.equal(seen.map((e) => e.delta?.text ?? "").join(""), echo("a b c d"));
	assert.ok(seen[0].message.usage.input_tokens > 0);
});

test("the accumulated message is the whole one", async () => {
	for (const more of [{}, { model: "tools", tools: TOOLS }, { model: "length" }, { model: "reasoning" }]) {
		const final = await anthropic.messages.stream(request("one two three", more)).finalMessage();
		assert.deepEqual(plain(final), plain(await create("one two three", more)), more.model);
	}
});

test("two results answer two calls", async () => {
	const shared = { model: "tools", tools: TOOLS };
	for (const first of [
		await create("the weather, and the time?", shared),
		await anthropic.messages.stream(request("the weather, and the time?", shared)).finalMessage(),
	]) {
		assert.equal(first.stop_reason, "tool_use");
		const calls = first.content.filter((b) => b.type === "tool_use");
		assert.deepEqual(calls.map((c) => [c.name, c.input]), [["get_weather", { city: "Oslo" }], ["get_time", { zone: "UTC" }]]);
		const results = calls.map((c) => ({ type: "tool_result", tool_use_id: c.id, content: `result of ${c.name}` }));
		const messages = [
			...ask("the weather, and the time?"),
			{ role: "assistant", content: first.content },
			{ role: "user", content: results },
		];
		const last = await create("", { ...shared, messages });
		assert.deepEqual([textOf(last), last.stop_reason], [echo("the weather, and the time?"), "end_turn"]);
	}
});

if (NATIVE) {
	test("thinking is replayed with its signature", async () => {
		const shared = { model: "tools", tools: TOOLS, thinking: { type: "enabled", budget_tokens: 2000 } };
		for (const first of [
			await create("hello", shared),
			await anthropic.messages.stream(request("hello", shared)).finalMessage(),
		]) {
			const [thinking, ...calls] = first.content;
			assert.ok(thinking.type === "thinking" && thinking.thinking && thinking.signature, JSON.stringify(thinking));
			const turns = (block) => [
				...ask("hello"),
				{ role: "assistant", content: [block, ...calls] },
				{ role: "user", content: calls.map((c) => ({ type: "tool_result", tool_use_id: c.id, content: "rain" })) },
			];
			assert.equal((await create("", { ...shared, messages: turns(thinking) })).stop_reason, "end_turn");
			const e = await caught(() => create("", { ...shared, messages: turns({ ...thinking, thinking: "changed" }) }));
			assert.ok(e instanceof Anthropic.BadRequestError && /Invalid `signature`/.test(e.message), String(e));
		}
	});

	test("a message ends for its reason", async () => {
		const ends = async (model) => (await create("hello", { model, stop_sequences: ["END"] })).stop_reason;
		assert.deepEqual(
			[await ends("stop-sequence"), await ends("refusal"), await ends("pause-turn"), await ends("length")],
			["stop_sequence", "refusal", "pause_turn", "max_tokens"],
		);
	});
}

test("a system text and an image are taken", async () => {
	const [, media_type, data] = PNG.match(/^data:(.*);base64,(.*)$/);
	const content = [{ type: "text", text: "look" }, { type: "image", source: { type: "base64", media_type, data } }];
	const reply = await create(content, { system: "be brief" });
	assert.equal(textOf(reply), echo("look"));
});

test("tokens are counted", async () => {
	const counted = await anthropic.messages.countTokens({ model: name("echo"), messages: ask("one two three"), tools: TOOLS });
	assert.ok(counted.input_tokens >= 3, JSON.stringify(counted));
});

test("models come in pages", async () => {
	const page = await anthropic.models.list({ limit: 2 });
	assert.equal(page.data.length, 2);
	const ids = (await collect(page)).map((m) => m.id);
	assert.ok(ids.includes(name("echo")) && new Set(ids).size === ids.length && ids.length > 2, String(ids));
});

const ERRORS = {
	400: [Anthropic.BadRequestError, "invalid_request_error"],
	401: [Anthropic.AuthenticationError, "authentication_error"],
	403: [Anthropic.PermissionDeniedError, "permission_error"],
	404: [Anthropic.NotFoundError, "not_found_error"],
	413: [Anthropic.APIError, "request_too_large"],
	429: [Anthropic.RateLimitError, "rate_limit_error"],
	500: [Anthropic.InternalServerError, "api_error"],
	502: [Anthropic.InternalServerError, "api_error"],
	529: [Anthropic.InternalServerError, "overloaded_error"],
};

async function refused(fn, status) {
	const e = await caught(fn);
	const [kind, type] = ERRORS[status];
	assert.equal(e.status, status, String(e));
	assert.ok(e instanceof kind, e.constructor.name);
	assert.equal(e.error.type, "error");
	assert.equal(e.error.error.type, type);
	assert.ok(e.error.error.message);
	assert.equal(e.requestID, e.error.request_id);
	return e;
}

if (DIRECT) {
	test("every status of the provider has its error", async () => {
		for (const status of [400, 401, 403, 404, 413, 429, 500, 529]) {
			await refused(() => create("hello", { model: `err-${status}` }), status);
			await refused(() => create("hello", { model: `err-${status}`, stream: true }), status);
		}
	});
}

test("refusals have their error", async () => {
	await refused(() => create("hello", { model: "unheard-of" }), 404);
	await refused(() => create("hello", { max_tokens: -1 }), 400);
	if (DIRECT) return;
	await refused(() => client({ apiKey: "wrong-key-of-nobody" }).messages.create(request("hello")), 401);
	await refused(() => client({ apiKey: ACTIVITY_KEY }).messages.create(request("hello")), 403);
	await refused(() => anthropic.messages.create({ ...request("hello"), model: UNCALLABLE }), 404);
	const e = await refused(() => create("hello", { model: "err-401" }), 502);
	assert.equal(e.headers.get("x-should-retry"), "false");
});

test("a long prompt has the words that clients look for", async () => {
	const e = await refused(() => create("hello", { model: "too-long" }), 400);
	assert.match(e.error.error.message, /prompt is too long/);
});

test("the client tries again after 429", async () => {
	const failures = DIRECT ? 2 : 1; // the gateway may take some of the attempts itself
	await fetch(`${FAKE}/_control/reset`, { method: "POST" });
	const patient = new Anthropic({ baseURL: HOST, apiKey: SECRET, timeout: TIMEOUT }); // with its own idea of retries
	const reply = await patient.messages.create(request("once more", { model: `first-${failures}-after-0-err-429` }));
	assert.equal(textOf(reply), echo("once more"));
	assert.equal((await upstream("once more")).length, failures + 1);
});

test("an overloaded stream is an error", async () => {
	const e = await caught(async () => collect(await create("hello", { model: "overloaded", stream: true })));
	assert.ok(e instanceof Anthropic.APIError, String(e));
	assert.ok(["overloaded_error", "api_error"].includes(e.error.error.type), String(e));
});

test("a stream that is cut is an error", async () => {
	const e = await caught(() => anthropic.messages.stream(request("hello", { model: "cut-clean" })).finalMessage());
	assert.ok(e instanceof Anthropic.AnthropicError, String(e));
});

await main();
