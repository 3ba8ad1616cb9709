// @openrouter/sdk: chat completions at /api/v1, with the calls for models,
// activity, generations and the key. Usage: node openrouter.mjs openrouter-1.2.27
// (an alias in package.json). The SDK validates every answer.

import assert from "node:assert/strict";
import {
	ACTIVITY_KEY, BROKEN, EMBED_MODEL, KEY, MODEL, ORIGIN, PERSON, PNG, TARGET, TIMEOUT, TOOLS_MODEL, UNCALLABLE, WEATHER,
	ask, caught, collect, echo, find, main, pick, test, testFake,
} from "./contract.mjs";

const alias = process.argv[2];
const { HTTPClient, OpenRouter, SDK_METADATA } = await import(alias);
const errors = await import(`${alias}/models/errors`);

// The SDK does not show the headers of good answers; a hook does.
let last;
const client = (apiKey = KEY) =>
	new OpenRouter({
		apiKey,
		serverURL: `${ORIGIN}/api/v1`,
		retryConfig: { strategy: "none" },
		timeoutMs: TIMEOUT,
		httpClient: new HTTPClient().addHook("response", (response) => {
			last = response.headers;
		}),
	});
const gateway = client();
const reader = client(ACTIVITY_KEY);

const send = (request, by = gateway) => by.chat.send({ chatRequest: { model: MODEL, messages: ask("hello"), ...request } });
const textOf = (chunks) => chunks.map((c) => c.choices[0]?.delta.content ?? "").join("");

test("the version is the one asked for", async () => {
	assert.equal(`openrouter-${SDK_METADATA.sdkVersion}`, alias);
});

test("the procedure", async () => {
	const model = pick((await gateway.models.list()).result.data.map((m) => m.id));
	const reply = await send({ model, messages: ask("hello from ts"), stream: false });
	const [requestID, generation] = [last.get("x-request-id"), last.get("x-generation-id")];
	console.log(`# ${reply.model} says ${reply.choices[0].message.content}`);
	assert.equal(reply.choices[0].message.content, echo("hello from ts"));
	assert.equal(reply.choices[0].finishReason, "stop");
	assert.equal(reply.model, model);

	const rows = (await reader.analytics.getUserActivity()).data;
	assert.ok(rows.some((r) => r.model === model && r.requests === 1), JSON.stringify(rows));
	await find(requestID, model, { status: 200, prompt_tokens: reply.usage.promptTokens });
	const found = (await reader.generations.getGeneration({ id: generation })).data;
	assert.deepEqual([found.id, found.model, found.streamed], [generation, model, false]);
});

test("how a call was routed", async () => {
	const routed = (chatRequest) =>
		gateway.chat.send({ xOpenRouterMetadata: "enabled", chatRequest: { model: MODEL, messages: ask("hello"), ...chatRequest } });
	const check = (m) => {
		const provider = MODEL.split("/")[0];
		assert.deepEqual([m.requested, m.strategy, m.attempt, m.isByok], [MODEL, "direct", 1, false]);
		assert.deepEqual(m.attempts, [{ provider, model: MODEL, status: 200 }]);
		assert.deepEqual(m.endpoints, { total: 1, available: [{ provider, model: MODEL, selected: true }] });
	};
	check((await routed({ stream: false })).openrouterMetadata);
	check((await collect(await routed({ stream: true }))).at(-1).openrouterMetadata);
	assert.equal((await send({ stream: false })).openrouterMetadata, undefined);
});

test("embeddings", async () => {
	const embed = (requestBody) => gateway.embeddings.generate({ requestBody: { model: EMBED_MODEL, input: ["a b", "c"], ...requestBody } });
	const reply = await embed({ dimensions: 8, inputType: "search_query" });
	assert.deepEqual(reply.data.map((d) => [d.index, d.embedding.length]), [[0, 8], [1, 8]]);
	assert.deepEqual([reply.model, reply.usage.promptTokens], [EMBED_MODEL, 3]);
	await find(last.get("x-request-id"), EMBED_MODEL, { status: 200, prompt_tokens: 3, completion_tokens: 0 });
	assert.equal(typeof (await embed({ encodingFormat: "base64" })).data[0].embedding, "string");
	const parts = [{ content: [{ type: "text", text: "a" }] }];
	const refused = await caught(() => embed({ input: parts, dimensions: 0 })); // the provider takes no parts
	assert.ok(refused instanceof errors.BadRequestResponseError, String(refused));
	assert.ok((await caught(() => embed({ model: UNCALLABLE }))) instanceof errors.NotFoundResponseError);

	const embedders = [];
	for await (const page of await gateway.embeddings.listModels()) {
		embedders.push(...page.result.data.map((m) => m.id));
	}
	assert.deepEqual(embedders, ["test/embed"]);
	assert.ok(!(await gateway.models.list()).result.data.some((m) => m.id === "test/embed"));
});

test("the pages of the list end", async () => {
	const whole = (await gateway.models.list()).result.data.map((m) => m.id);
	for (const request of [undefined, { limit: 1 }, { limit: whole.length }]) {
		const seen = [];
		for await (const page of await gateway.models.list(request)) {
			seen.push(...page.result.data.map((m) => m.id));
			assert.ok(seen.length <= whole.length, "the list does not end");
			assert.equal(page.result.totalCount, whole.length);
		}
		assert.deepEqual(seen, whole);
	}
});

test("one model and the key", async () => {
	const [author, slug] = MODEL.split("/");
	assert.equal((await gateway.models.get({ author, slug })).data.id, MODEL);
	const { data: model } = await gateway.endpoints.list({ author, slug });
	assert.deepEqual([model.id, model.endpoints.map((e) => [e.modelId, e.providerName])], [MODEL, [[MODEL, author]]]);
	assert.ok((await caught(() => gateway.endpoints.list({ author, slug: "none" }))) instanceof errors.NotFoundResponseError);
	const whole = (await gateway.models.list()).result;
	assert.equal((await gateway.models.count()).data.count, whole.totalCount);
	const { data } = await gateway.apiKeys.getCurrentKeyMetadata();
	assert.ok(data.label && !data.label.includes(KEY));
});

test("chat streams", async () => {
	const chunks = await collect(await send({ messages: ask("a b c d"), stream: true }));
	const requestID = last.get("x-request-id");
	assert.equal(textOf(chunks), echo("a b c d"));
	assert.deepEqual([...new Set(chunks.map((c) => c.model))], [MODEL]);
	assert.deepEqual([...new Set(chunks.map((c) => c.choices[0]?.finishReason).filter(Boolean))], ["stop"]);
	assert.deepEqual(chunks.flatMap((c, i) => (c.usage ? [i] : [])), [chunks.length - 1]);
	const row = await find(requestID, MODEL, { status: 200, stream: true });
	assert.equal(row.completion_tokens, chunks.at(-1).usage.completionTokens);
});

test("responses", async () => {
	const respond = (responsesRequest) => gateway.responses.send({ responsesRequest: { model: MODEL, input: "a b", ...responsesRequest } });
	const reply = await respond({ stream: false });
	assert.deepEqual([reply.outputText ?? reply.output.at(-1).content[0].text, reply.model, reply.status], [echo("a b"), MODEL, "completed"]);
	const events = await collect(await respond({ stream: true }));
	assert.deepEqual([events[0].type, events.at(-1).type], ["response.created", "response.completed"]);
	assert.deepEqual([events[0].response.model, events.at(-1).response.model], [MODEL, MODEL]);
	assert.equal(events.filter((e) => e.type === "response.output_text.delta").map((e) => e.delta).join(""), echo("a b"));
	assert.deepEqual(events.filter((e) => e.isUnknown), []);
	const first = await gateway.responses.send({ responsesRequest: { models: [MODEL], input: "a b" } });
	assert.equal(first.model, MODEL);
});

test("the first of models is the model", async () => {
	const reply = await gateway.chat.send({ chatRequest: { models: [MODEL], messages: ask("hello"), stream: false } });
	assert.deepEqual([reply.model, reply.choices[0].message.content], [MODEL, echo("hello")]);
});

test("tools go round", async () => {
	const messages = ask("what is the weather?");
	const shared = { model: TOOLS_MODEL, tools: [WEATHER] };
	const first = (await send({ ...shared, messages })).choices[0];
	assert.equal(first.finishReason, "tool_calls");
	assert.ok("city" in JSON.parse(first.message.toolCalls[0].function.arguments));
	messages.push({ role: "assistant", content: null, toolCalls: first.message.toolCalls });
	for (const c of first.message.toolCalls) messages.push({ role: "tool", toolCallId: c.id, content: "sunny" });
	const second = (await send({ ...shared, messages })).choices[0];
	assert.equal(second.finishReason, "stop");
	assert.ok(second.message.content);

	const chunks = await collect(await send({ ...shared, messages: ask("streamed?"), stream: true }));
	const fragments = chunks.flatMap((c) => c.choices[0]?.delta.toolCalls ?? []).filter((f) => f.index === 0);
	assert.ok("city" in JSON.parse(fragments.map((f) => f.function?.arguments ?? "").join("")));
});

test("json schema output", async () => {
	const jsonSchema = { name: "person", strict: true, schema: PERSON };
	const reply = await send({ responseFormat: { type: "json_schema", jsonSchema } });
	assert.deepEqual(Object.keys(JSON.parse(reply.choices[0].message.content)).sort(), ["age", "name"]);
});

test("images are accepted", async () => {
	const content = [{ type: "text", text: "look" }, { type: "image_url", imageUrl: { url: PNG } }];
	const reply = await send({ messages: [{ role: "user", content }] });
	assert.ok(reply.choices[0].message.content.startsWith(echo("look")));
});

async function refused(fn, kind, status, errorType) {
	const e = await caught(fn);
	assert.ok(e instanceof kind, `${e?.name}: ${e}`);
	assert.deepEqual([e.statusCode, e.error.code], [status, status]);
	assert.equal(e.error.metadata.error_type, errorType);
}

test("a wrong key is 401", () =>
	refused(() => send({}, client("gh-" + "x".repeat(43))), errors.UnauthorizedResponseError, 401, "authentication"));

test("a key without the scope is 403", async () => {
	await refused(() => send({}, reader), errors.ForbiddenResponseError, 403, "permission_denied");
	await refused(() => gateway.analytics.getUserActivity(), errors.ForbiddenResponseError, 403, "permission_denied");
});

test("models that cannot be called are 404", async () => {
	for (const model of [`${TARGET}/no-such-model`, "no-such-provider/echo", UNCALLABLE]) {
		for (const stream of [false, true]) {
			await refused(() => send({ model, stream }), errors.NotFoundResponseError, 404, "not_found");
		}
	}
});

test("a missing model is 400", () =>
	refused(() => send({ model: undefined }), errors.BadRequestResponseError, 400, "invalid_request"));

test("an unknown generation is 404", () =>
	refused(() => reader.generations.getGeneration({ id: "gen-none" }), errors.NotFoundResponseError, 404, "not_found"));

testFake("the provider's errors are classes", async () => {
	await refused(() => send({ model: "fake/err-429" }), errors.TooManyRequestsResponseError, 429, "rate_limit_exceeded");
	await refused(() => send({ model: "fake/err-500" }), errors.BadGatewayResponseError, 502, "provider_unavailable");
});

testFake("a stream that breaks ends in an error chunk", async () => {
	let inside = 0;
	for (const name of BROKEN) {
		let chunks;
		try {
			chunks = await collect(await send({ model: `fake/${name}`, messages: ask("a b c d"), stream: true }));
		} catch (e) {
			assert.ok(e instanceof errors.BadGatewayResponseError, `${name}: ${e}`);
			continue;
		}
		inside++;
		const end = chunks.at(-1);
		assert.ok(Number.isInteger(end.error?.code), `${name} ends in ${JSON.stringify(end)}`);
		assert.equal(end.choices[0].finishReason, "error", name);
	}
	assert.ok(inside > 0, "no error inside a stream");
});

testFake("odd providers are repaired", async () => {
	for (const name of ["null-fields", "sloppy", "float-created", "usage-each", "no-done", "finish-eos"]) {
		const request = { model: `fake/${name}`, messages: ask("a b c") };
		assert.equal((await send(request)).choices[0].message.content, echo("a b c"), name);
		assert.equal(textOf(await collect(await send({ ...request, stream: true }))), echo("a b c"), name);
	}
});

await main();
