// @openrouter/sdk: keys that are made at run time, the key of the caller and the
// credits of its tenant. Usage: node keys.mjs openrouter-1.3.19 (an alias in
// package.json). The SDK validates every answer.

import assert from "node:assert/strict";
import { KEY, ORIGIN, TIMEOUT, ask, caught, echo, main, test } from "./contract.mjs";

const alias = process.argv[2];
const { OpenRouter } = await import(alias);
const errors = await import(`${alias}/models/errors`);
const newest = alias.includes("-1.3.");

const MANAGER_KEY = process.env.GATEWAY_MANAGER_KEY; // keys:manage
const client = (apiKey = MANAGER_KEY) =>
	new OpenRouter({ apiKey, serverURL: `${ORIGIN}/api/v1`, retryConfig: { strategy: "none" }, timeoutMs: TIMEOUT });
const manager = client();
const keys = manager.apiKeys;
const create = (requestBody) => keys.create({ requestBody });
const update = (hash, requestBody) => keys.update({ hash, requestBody });
const say = (key) => client(key).chat.send({ chatRequest: { model: "test/echo", messages: ask("hello") } });
const list = async (request) => {
	const answer = await keys.list(request);
	return (answer.result ?? answer).data;
};
const refusal = async (kind, fn) => {
	const error = await caught(fn);
	assert.ok(error instanceof errors[kind], `${error}`);
};

// refused waits while a gateway of a cluster may not know that the key has ended. The gateways are asked
// in turn.
const refused = async (key) => {
	const end = Date.now() + 1000 * Number(process.env.GATEWAY_NEWS_TIME || 0);
	for (let times = 0; times < 4 && Date.now() < end; ) {
		times = await say(key).then(() => 0, () => times + 1);
	}
	await refusal("UnauthorizedResponseError", () => say(key));
};

test("the life of a key", async () => {
	const { key, data } = await create({ name: "life" });
	assert.match(key, /^gh-/);
	assert.deepEqual([data.name, data.disabled, data.limit, data.updatedAt], ["life", false, null, null]);
	assert.equal(data.label, `${key.slice(0, 6)}...${key.slice(-3)}`);
	assert.equal((await say(key)).choices[0].message.content, echo("hello"));
	assert.equal((await keys.get({ hash: data.hash })).data.name, "life");
	const changed = (await update(data.hash, { name: "renamed", disabled: true })).data;
	assert.deepEqual([changed.name, changed.disabled], ["renamed", true]);
	await refused(key);
	await update(data.hash, { disabled: false });
	await say(key);
	assert.equal((await keys.delete({ hash: data.hash })).deleted, true);
	await refused(key);
	await refusal("NotFoundResponseError", () => keys.get({ hash: data.hash }));
	await refusal("NotFoundResponseError", () => keys.delete({ hash: data.hash }));
});

test("limits and times", async () => {
	const expiresAt = new Date("2099-01-01T00:00:00Z");
	let { data } = await create({ name: "limits", limit: 2.5, limitReset: "weekly", expiresAt, includeByokInLimit: true });
	assert.deepEqual([data.limit, data.limitRemaining, data.limitReset, data.includeByokInLimit], [2.5, 2.5, "weekly", true]);
	assert.deepEqual(data.expiresAt, expiresAt);
	assert.deepEqual([data.usage, data.usageDaily, data.usageWeekly, data.usageMonthly, data.byokUsage], [0, 0, 0, 0, 0]);
	data = (await update(data.hash, { limit: null, limitReset: null })).data;
	assert.deepEqual([data.limit, data.limitRemaining, data.limitReset], [null, null, null]);
	data = (await update(data.hash, { limit: 1e-9 })).data;
	assert.equal(data.limit, 1e-9);
	assert.deepEqual((await update(data.hash, {})).data.limit, 1e-9);
	await keys.delete({ hash: data.hash });
	await refusal("BadRequestResponseError", () => create({ name: "x", expiresAt: new Date("2020-01-01T00:00:00Z") }));
	await refusal("BadRequestResponseError", () => create({ name: "" }));
	await refusal("BadRequestResponseError", () => create({ name: "x", limit: -1 }));
});

test("the list", async () => {
	const made = [];
	for (let i = 0; i < 105; i++) made.unshift((await create({ name: `many ${i}` })).data.hash);
	await update(made[0], { disabled: true });
	const listed = [...(await list({})), ...(await list({ offset: 100 }))];
	assert.deepEqual(listed.map((k) => k.hash), made.slice(1));
	assert.equal((await list({ includeDisabled: true, offset: 100 })).length, 5);
	for (const hash of made) await keys.delete({ hash });
});

test("the key of the caller, and the credits", async () => {
	const { key, data } = await create({ name: "current", limit: 3, ...(newest && { external: { user: "u-1" } }) });
	if (newest) assert.equal(data.externalUser, "u-1");
	const current = (await client(key).apiKeys.getCurrentKeyMetadata()).data;
	assert.deepEqual([current.label, current.limit, current.isManagementKey], [data.label, 3, false]);
	assert.equal((await keys.getCurrentKeyMetadata()).data.isManagementKey, true);
	await keys.delete({ hash: data.hash });
	const credits = (await manager.credits.getCredits()).data;
	assert.equal(credits.totalCredits - credits.totalUsage, 1_000_000);
	await refusal("ForbiddenResponseError", () => client(KEY).credits.getCredits());
	await refusal("ForbiddenResponseError", () => client(KEY).apiKeys.create({ requestBody: { name: "x" } }));
	await refusal("UnauthorizedResponseError", () => client("gh-none-of-ours").apiKeys.list());
});

main();
