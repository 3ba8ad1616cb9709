// What the Node suites share: the address of the gateway, queries of its activity
// without an SDK, and a runner that reports in TAP. The driver (tests/sdk/run)
// sets the environment; GATEWAY_TARGET is the provider behind the gateway.

import assert from "node:assert/strict";

const env = (name) => {
	const value = process.env[name];
	if (!value) throw new Error(`${name} is not set`);
	return value;
};

export const ORIGIN = env("GATEWAY_ORIGIN");
export const KEY = env("GATEWAY_API_KEY"); // chat:write models:read
export const ACTIVITY_KEY = env("GATEWAY_ACTIVITY_KEY"); // activity:read, same tenant
export const TARGET = env("GATEWAY_TARGET");
export const UNCALLABLE = env("GATEWAY_UNCALLABLE_MODEL"); // in the catalog, not routable
export const CLOUDS = ["gemini", "converse"]; // of protocols in which a provider cannot answer a stream as a whole
export const MODEL = `${TARGET}/echo`;
export const EMBED_MODEL = ["fake", "chatonly"].includes(TARGET) ? MODEL : "test/embed";
export const TOOLS_MODEL = TARGET === "test" ? MODEL : `${TARGET}/tools`;
export const TIMEOUT = 30_000; // ms

// Ways in which a provider's stream is interrupted. If the gateway notices before it
// has sent a byte, the answer is a plain 502, else it is an error inside the stream.
// This depends on timing, so a suite accepts either and must see the second once.
export const BROKEN = ["cut-mid-stream", "cut-reset", "cut-clean", "err-mid-stream", "malformed"];

export const PNG =
	"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export const WEATHER = {
	type: "function",
	function: {
		name: "get_weather",
		description: "The weather of a city",
		parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
	},
};

export const PERSON = {
	type: "object",
	properties: { name: { type: "string" }, age: { type: "integer" } },
	required: ["name", "age"],
	additionalProperties: false,
};

// echo is the whole reply of the model "echo" of either provider.
export const echo = (prompt) => `You said: ${prompt}`;

export const ask = (text) => [{ role: "user", content: text }];

const cases = [];

export const test = (name, fn) => cases.push([name, fn]);
export const testFake = (name, fn) => TARGET === "fake" && test(name, fn);

export async function main() {
	let failed = 0;
	for (const [i, [name, fn]] of cases.entries()) {
		let timer;
		const late = new Promise((_, reject) => {
			timer = setTimeout(() => reject(new Error("no end within the timeout")), TIMEOUT);
		});
		try {
			await Promise.race([fn(), late]);
			console.log(`ok ${i + 1} - ${name}`);
		} catch (e) {
			failed++;
			console.log(`not ok ${i + 1} - ${name}`);
			console.log(String(e?.stack ?? e).replace(/^/gm, "# "));
		}
		clearTimeout(timer);
	}
	console.log(`1..${cases.length}`);
	process.exit(failed ? 1 : 0);
}

// pick is step 3 of the verification: it selects the model from the list.
export function pick(ids) {
	assert.ok(ids.includes(MODEL), `${MODEL} is not in the list ${ids}`);
	return ids[ids.indexOf(MODEL)];
}

// caught runs fn, which must throw, and returns the error.
export async function caught(fn) {
	let got;
	try {
		got = await fn();
	} catch (e) {
		return e;
	}
	assert.fail(`no error, but ${JSON.stringify(got)}`);
}

// find is step 5: key 2 finds the request of key 1.
export async function find(requestID, model, fields = {}) {
	const url = `${ORIGIN}/api/v1/activity?request_id=${encodeURIComponent(requestID)}`;
	const answer = await fetch(url, { headers: { Authorization: `Bearer ${ACTIVITY_KEY}` } });
	assert.equal(answer.status, 200, "status of the activity");
	const { data } = await answer.json();
	assert.equal(data.length, 1, `rows of the request ${requestID}`);
	const [row] = data;
	for (const [name, want] of Object.entries({ request_id: requestID, model, requests: 1, ...fields })) {
		assert.deepEqual(row[name], want, `${name} of the row`);
	}
	return row;
}

export async function collect(iterable) {
	const all = [];
	for await (const item of iterable) all.push(item);
	return all;
}
