// @google/genai (npm): Google's API. Against "direct", which is the fake provider without
// a gateway, it proves the fake; against "gemini" it proves the gateway.
//
// The SDK adds the version and /models/NAME:METHOD to the base URL.

import assert from "node:assert/strict";
import { ApiError, GoogleGenAI } from "@google/genai";
import { KEY, ORIGIN, PNG, TARGET, TIMEOUT, caught, collect, echo, find, main, test } from "./contract.mjs";

const DIRECT = TARGET === "direct";
const HOST = DIRECT ? `${process.env.FAKE_ORIGIN}/gemini` : ORIGIN;
const SECRET = DIRECT ? process.env.FAKE_API_KEY : KEY;

const name = (model) => (DIRECT ? `gemini-${model}` : `${TARGET}/gemini-${model}`);
const client = (apiVersion = "v1beta", apiKey = SECRET) =>
	new GoogleGenAI({ apiKey, httpOptions: { baseUrl: HOST, apiVersion, timeout: TIMEOUT } });
const google = client();
const testGateway = (...args) => DIRECT || test(...args);

const request = (contents, model = "3-echo", config = {}) => ({ model: name(model), contents, config });
const ask = (...args) => google.models.generateContent(request(...args));
const stream = async (...args) => collect(await google.models.generateContentStream(request(...args)));
const textOf = (chunks) => chunks.map((c) => c.text ?? "").join("");

const TOOLS = [
	{
		functionDeclarations: [
			{
				name: "get_weather",
				description: "The weather of a city",
				parametersJsonSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
			},
		],
	},
];

// fails runs fn, which must throw an error of the API with this status.
async function fails(fn, status) {
	const e = await caught(fn);
	assert.ok(e instanceof ApiError, String(e));
	assert.equal(e.status, status, String(e));
	return e;
}

test("an answer is given under each version", async () => {
	for (const version of DIRECT ? ["v1beta"] : [undefined, "v1", "v1beta", "v1alpha"]) {
		const reply = await client(version).models.generateContent(request("hello from js"));
		assert.equal(reply.text, echo("hello from js"));
		assert.equal(reply.candidates[0].finishReason, "STOP");
		assert.ok(reply.usageMetadata.promptTokenCount > 0);
		assert.equal(reply.usageMetadata.candidatesTokenCount, 5);
		if (DIRECT) continue;
		assert.equal(reply.modelVersion, name("3-echo"));
		const row = await find(reply.sdkHttpResponse.headers["x-request-id"], name("3-echo"), { status: 200, stream: false });
		assert.equal(row.completion_tokens, 5);
	}
});

test("a stream adds up to the whole answer", async () => {
	for (const model of ["3-echo", "3-reasoning"]) {
		const chunks = await stream("one two three", model);
		const whole = await ask("one two three", model);
		assert.equal(textOf(chunks), whole.text);
		assert.deepEqual(chunks.at(-1).usageMetadata, whole.usageMetadata);
		assert.equal(chunks.at(-1).candidates[0].finishReason, "STOP");
	}
});

test("settings and an image reach the provider", async () => {
	const image = { inlineData: { mimeType: "image/png", data: PNG.split(",")[1] } };
	const config = { maxOutputTokens: 9, systemInstruction: "be brief", thinkingConfig: { includeThoughts: true } };
	assert.equal((await ask(["see this", image], "3-echo", config)).text, echo("see this"));
});

test("a call and its result return", async () => {
	for (const streamed of [false, true]) {
		const asked = ["how is the weather?", "3-tools", { tools: TOOLS }];
		const replies = streamed ? await stream(...asked) : [await ask(...asked)];
		const { content } = replies.find((r) => r.functionCalls).candidates[0];
		const { functionCall } = content.parts.find((p) => p.functionCall);
		assert.equal(functionCall.name, "get_weather");
		const functionResponse = { id: functionCall.id, name: functionCall.name, response: { output: "sunny" } };
		const history = [{ role: "user", parts: [{ text: "how is the weather?" }] }, content, { role: "user", parts: [{ functionResponse }] }];
		assert.ok((await ask(history)).text); // 3-… refuses a call without its signature
	}
});

test("tokens are counted and texts embedded", async () => {
	const { totalTokens } = await google.models.countTokens({ model: name("3-echo"), contents: "one two three" });
	assert.ok(totalTokens > 0);
	const { embeddings } = await google.models.embedContent({ model: name("embedding-001"), contents: ["abc", "defg"] });
	assert.deepEqual(embeddings.map((e) => e.values[0]), [3, 4]);
});

test("a blocked prompt says so", async () => {
	for (const reply of [await ask("x", "3-blocked"), (await stream("x", "3-blocked")).at(-1)]) {
		assert.equal(reply.promptFeedback.blockReason, "SAFETY");
	}
});

testGateway("the list has the models that can be called", async () => {
	const listed = (await collect(await google.models.list({ config: { pageSize: 3 } }))).map((m) => m.name);
	assert.ok(listed.includes(`models/${name("3-echo")}`) && listed.length > 3, String(listed));
	assert.ok(listed.every((n) => n.startsWith("models/gemini/")), String(listed));
	const found = await google.models.get({ model: name("3-echo") });
	const chat = google.chats.create({ model: found.name });
	assert.equal((await chat.sendMessage({ message: "from the list" })).text, echo("from the list"));
});

testGateway("refusals are errors of the SDK", async () => {
	await fails(() => client("v1beta", "gh-nobody").models.generateContent(request("x")), 401);
	await fails(() => ask("x", "3-nobody"), 404);
	const other = await fails(() => google.models.generateContent({ model: "fake/echo", contents: "x" }), 400);
	assert.match(other.message, /\/v1\/chat\/completions/);
	await fails(() => ask("x", "3-echo", { tools: [{ googleSearch: {} }] }), 403);
	await fails(() => google.files.get({ name: "files/a" }), 404);
	await fails(() => ask("x", "3-err-500"), 502);
	assert.match((await fails(() => ask("x", "3-retry"), 429)).message, /"retryDelay":"35s"/);
});

testGateway("a broken stream is an error", async () => {
	for (const model of ["3-no-finish", "3-error-late"]) { // the SDK alone takes the first for a whole answer
		await fails(() => stream("x", model), 502);
	}
});

await main();
