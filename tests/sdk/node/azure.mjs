// openai's client of Azure (npm): what it sends is what the gateway sends. It calls the fake
// provider directly, the same is asked of the gateway, and the requests that arrived are compared.

import assert from "node:assert/strict";
import OpenAI, { AzureOpenAI } from "openai";
import { KEY, ORIGIN, TIMEOUT, WEATHER, ask, collect, main, test } from "./contract.mjs";

const FAKE = process.env.FAKE_ORIGIN;
const FAKE_KEY = process.env.FAKE_API_KEY;

const options = { maxRetries: 0, timeout: TIMEOUT };
const classic = new AzureOpenAI({ ...options, endpoint: `${FAKE}/azure`, apiKey: FAKE_KEY, apiVersion: "2024-10-21" });
const v1 = new AzureOpenAI({ ...options, baseURL: `${FAKE}/azure/openai/v1`, apiKey: FAKE_KEY, apiVersion: "v1" });
const gateway = new OpenAI({ ...options, baseURL: `${ORIGIN}/v1`, apiKey: KEY });

// sent is the last request that the fake provider received, with its headers by name.
async function sent() {
	const last = (await (await fetch(`${FAKE}/_control/requests`)).json()).at(-1);
	const headers = Object.fromEntries(last.headers.map(([name, value]) => [name.toLowerCase(), value]));
	return { path: last.path, body: JSON.parse(last.body), headers };
}

// same asks both, and compares path, query, credential and body.
async function same(direct, provider, call, query = true) {
	await call(direct, "echo");
	const theirs = await sent();
	await call(gateway, `${provider}/echo`);
	const ours = await sent();
	assert.equal(ours.path, query ? theirs.path : theirs.path.split("?")[0]);
	assert.deepEqual(ours.body, theirs.body);
	for (const name of ["api-key", "authorization", "content-type"]) assert.equal(ours.headers[name], theirs.headers[name], name);
	assert.equal(ours.headers["api-key"], FAKE_KEY);
}

const request = (model) => ({ model, messages: ask('hü "quoted"'), tools: [WEATHER], max_completion_tokens: 50 });

test("a deployment gets what Azure's client sends", async () => {
	await same(classic, "azure-classic", (client, model) => client.chat.completions.create(request(model)));
	const streamed = (model) => ({ ...request(model), stream: true, stream_options: { include_usage: true } });
	await same(classic, "azure-classic", async (client, model) => collect(await client.chat.completions.create(streamed(model))));
	const text = (model) => ({ model, input: "hü", encoding_format: "float" });
	await same(classic, "azure-classic", (client, model) => client.embeddings.create(text(model)));
});

test("the v1 API gets what Azure's client sends but for the version", async () => {
	await same(v1, "azure", (client, model) => client.responses.create({ model, input: "hü" }), false);
});

await main();
