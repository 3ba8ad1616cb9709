// Inspector's CLI: list the tools of a server behind the gateway, and call one.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KEY, ORIGIN, TIMEOUT, main, test } from "./contract.mjs";

const CLI = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";

// inspect runs the CLI, with a home of its own, and returns how it ended and what it wrote.
async function inspect(key, ...args) {
	const home = await mkdtemp(join(tmpdir(), "inspector-"));
	const command = [CLI, "--cli", `${ORIGIN}/mcp/demo`, "--transport", "http", "--header", `Authorization: Bearer ${key}`, ...args];
	const child = spawn(process.execPath, command, { env: { ...process.env, HOME: home }, timeout: TIMEOUT, stdio: ["ignore", "pipe", "pipe"] });
	let out = "";
	let err = "";
	child.stdout.on("data", (data) => (out += data));
	child.stderr.on("data", (data) => (err += data));
	const [code, signal] = await new Promise((resolve) => child.on("close", (...ended) => resolve(ended)));
	await rm(home, { recursive: true });
	assert.equal(signal, null, `it did not end: ${err}`);
	return { code, out, err };
}

test("tools round trip", async () => {
	const list = await inspect(KEY, "--method", "tools/list");
	assert.equal(list.code, 0, list.err);
	assert.deepEqual(JSON.parse(list.out).tools.map((t) => t.name), ["echo", "time", "slow", "error"]);
	const call = await inspect(KEY, "--method", "tools/call", "--tool-name", "echo", "--tool-arg", "text=hello");
	assert.equal(call.code, 0, call.err);
	assert.equal(JSON.parse(call.out).content[0].text, "hello");
});

test("a wrong key ends at once", async () => {
	const list = await inspect("gh-wrong", "--method", "tools/list");
	assert.notEqual(list.code, 0);
});

await main();
