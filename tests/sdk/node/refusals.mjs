// What the Node suites of refusals share: the calls of tests/sdk/refusals.json as
// the driver made them, the checks of a refusal that are equal for every SDK, the
// count of the requests at the gateway, and a fake clock.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { ACTIVITY_KEY, KEY, ORIGIN, test } from "./contract.mjs";

const calls = JSON.parse(readFileSync(process.env.GATEWAY_CALLS, "utf8"));

// The longest wait of a retry, in ms; longer timers are a request's time limits.
const LONGEST_WAIT = 120_000;

// In an hour of retries the clock advances ten times as far as the SDK waits: that
// makes some forty requests instead of four hundred.
const HASTE = 10;

// register makes a test of each call. perform(call, outcome) runs once() as often
// as attempts says; what once throws becomes outcome.error, which describe(call,
// outcome) checks and completes with its message, headers and requestID.
export function register(once, describe) {
	for (const call of calls) {
		test([call.name, call.api, call.streamed ? "streamed" : ""].join(" ").trim(), async () => {
			const unknown = call.key === "none" ? await unauthenticated() : undefined;
			const release = call.hold ? await heldStream(call) : () => {};
			const outcome = { pieces: [], answered: 0, waits: [] };
			try {
				await perform(call, outcome, once);
			} finally {
				release();
			}
			if (outcome.error) describe(call, outcome);
			await check(call, outcome, unknown);
		});
	}
}

// perform makes the call with the SDK's own retries. once(call, pieces) returns
// the error that a stream ended in, if the SDK does not throw it.
async function perform(call, outcome, once) {
	const attempt = async () => {
		outcome.pieces = [];
		outcome.error = await once(call, outcome.pieces);
		if (!outcome.error) outcome.answered++;
	};
	for (let i = 0; i < call.before; i++) await attempt();
	const restore = putForward(outcome.waits, call.requests);
	try {
		// A limit of a second is met unless the machine pauses between two calls.
		for (let tries = call.before ? 3 : 1; tries > 0 && !outcome.waits.length && !outcome.error; tries--) await attempt();
	} catch (e) {
		outcome.error = e;
	} finally {
		restore();
	}
}

// putForward replaces the real clock by one that a wait advances, and records the
// waits in seconds. A real one only records them. Node's own timers, for idle
// connections, are unchanged.
function putForward(waits, requests) {
	const { setTimeout, Date: { now } } = globalThis;
	let ahead = 0;
	globalThis.setTimeout = (fn, ms = 0, ...args) => {
		const setter = new Error().stack.split("\n")[2];
		if (ms === 0 || ms > LONGEST_WAIT || setter.includes("node:")) return setTimeout(fn, ms, ...args);
		waits.push(ms / 1000);
		if (requests === "answered") return setTimeout(fn, ms, ...args);
		ahead += ms * (requests === "an hour" ? HASTE : 1);
		return setTimeout(fn, 0, ...args);
	};
	Date.now = () => now() + ahead;
	return () => {
		globalThis.setTimeout = setTimeout;
		Date.now = now;
	};
}

// heldStream opens a stream of the same key that does not end by itself.
async function heldStream(call) {
	const controller = new AbortController();
	const answer = await fetch(`${ORIGIN}/v1/chat/completions`, {
		method: "POST",
		headers: { Authorization: `Bearer ${call.secret}`, "Content-Type": "application/json" },
		body: JSON.stringify({ model: "fake/stall", stream: true, messages: [{ role: "user", content: "x" }] }),
		signal: controller.signal,
	});
	assert.equal(answer.status, 200, "status of the stream that is held");
	await answer.body.getReader().read();
	return () => controller.abort();
}

async function get(path) {
	const answer = await fetch(ORIGIN + path, { headers: { Authorization: `Bearer ${ACTIVITY_KEY}` } });
	assert.equal(answer.status, 200, `status of ${path}`);
	return answer.text();
}

// unauthenticated counts requests without a valid key, which leave no row.
async function unauthenticated() {
	const lines = (await get("/metrics")).split("\n").filter((line) => line.startsWith("gatehouse_unauthenticated_total"));
	return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

// rows are those of the key's calls. A refusal that does not wait for the upload
// to end is sent before its row is written, so a row may come a moment later.
async function rows(call, requestID) {
	const patience = Date.now() + 5000;
	for (;;) {
		const { data } = JSON.parse(await get(`/api/v1/activity?limit=1000&key=${call.key_name}`));
		if (!requestID || data.some((r) => r.request_id === requestID)) return data;
		assert.ok(Date.now() < patience, `no row of ${requestID}`);
		await new Promise((resolve) => setTimeout(resolve, 10));
	}
}

const limitOf = (call) => (call.limit ? `key:${call.key_name}` : undefined);

export function paramOf(call) {
	if (call.param !== "OUTPUT") return call.param || null;
	return call.api === "chat" ? "max_completion_tokens" : "max_output_tokens";
}

// timesOf is how often the gateway refused, by the waits of the SDK.
function timesOf(call, waits) {
	const [least, most] = call.waits ?? [0, LONGEST_WAIT];
	assert.ok(waits.every((s) => s >= least && s <= most), `waits ${waits}`);
	if (call.requests === "an hour") {
		const sum = waits.reduce((a, b) => a + b, 0);
		assert.ok(HASTE * (sum - waits.at(-1)) <= 3600 && HASTE * sum > 3600 - 60, `waits ${waits}`);
		return waits.length + 1;
	}
	const requests = { once: 1, thrice: 3, answered: 2 }[call.requests];
	assert.equal(waits.length, requests - 1, `waits ${waits}`);
	return call.requests === "answered" ? 1 : requests;
}

// check checks what does not depend on the SDK.
async function check(call, { error, message, headers, requestID, pieces, answered, waits }, unknown) {
	const times = timesOf(call, waits);
	if (call.key === "none") {
		assert.equal((await unauthenticated()) - unknown, times, "requests without a valid key");
	} else {
		const data = await rows(call, requestID);
		const refused = data.filter((r) => r.code === call.code);
		assert.equal(refused.length, times, `refused requests of ${JSON.stringify(data.map((r) => [r.status, r.code]))}`);
		assert.equal(data.filter((r) => r.status === 200 && !r.code).length, answered, "answered requests");
		assert.ok(refused.every((r) => r.status === call.status), "status of the rows");
	}
	if (call.requests === "answered") return assert.equal(error, undefined);
	const text = pieces.join("");
	assert.ok(error, `no error, but ${text}`);
	assert.ok(text.startsWith(call.inside) && !text === !call.inside, `before the error: ${text}`);
	for (const part of [...call.message, ...(call.limit === "key" ? [limitOf(call)] : [])]) {
		assert.ok(message.includes(part), `${part} is not in ${message}`);
	}
	for (const part of [call.hidden, call.secret, KEY, "sk-fake-"]) {
		assert.ok(!part || !(message + text).includes(part), `${part} is in ${message}, ${text}`);
	}
	if (!headers) return;
	for (const [name, pattern] of Object.entries(call.headers ?? { "retry-after": "", "x-should-retry": "false" })) {
		const value = headers.get(name);
		if (pattern === "") assert.equal(value, null, name);
		else assert.match(value ?? "", new RegExp(`^(?:${pattern})$`), name);
	}
}

// checkMetadata checks the metadata of the OpenRouter API.
export function checkMetadata(call, metadata) {
	assert.equal(metadata.error_type, call.error_type);
	assert.equal(metadata.param ?? null, paramOf(call), "param");
	assert.equal(metadata.limit_source, limitOf(call), "limit_source");
	assert.deepEqual(metadata.reasons ?? null, call.reasons, "reasons");
}
