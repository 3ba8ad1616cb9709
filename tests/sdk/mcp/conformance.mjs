// The protocol's own conformance tests, against a server directly and through the gateway: the same
// checks must have the same results, and what a version requires must pass. The Go SDK's server knows
// one era at a time, so there are two.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { main, test } from "./contract.mjs";

const CLI = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
const GATEWAY = process.env.GATEWAY_CONFORMANCE_ORIGIN; // adds the key: the program cannot

const eras = [
	{ version: "2026-07-28", server: "stateless", direct: process.env.MCP_STATELESS, least: 160 },
	{ version: "2025-11-25", server: "sessions", direct: process.env.MCP_SESSIONS, least: 80 },
];

// results runs what a version requires, and returns the results by scenario and check.
async function results(url, version) {
	const dir = await mkdtemp(join(tmpdir(), "conformance-"));
	const child = spawn(process.execPath, [CLI, "server", "--url", url, "--requirements", version, "-o", dir], { stdio: ["ignore", "pipe", "inherit"] });
	let out = "";
	child.stdout.on("data", (data) => (out += data));
	const [code] = await new Promise((resolve) => child.on("close", (...ended) => resolve(ended)));
	const found = {};
	for (const scenario of (await readdir(dir)).sort()) {
		const name = scenario.replace(/-\d{4}-\d\d-\d\dT.*$/, "");
		const checks = JSON.parse(await readFile(join(dir, scenario, "checks.json"), "utf8"));
		for (const check of checks) {
			const key = `${name}: ${check.id} ${check.name}`;
			(found[key] ??= []).push(check.status);
		}
	}
	await rm(dir, { recursive: true });
	assert.equal(code, 0, `of the required scenarios of ${version}, some fail at ${url}:\n${out.split("=== SUMMARY ===")[1]}`);
	return found;
}

for (const { version, server, direct, least } of eras) {
	test(`${version} through the gateway is as without it`, async () => {
		const without = await results(direct, version);
		const through = await results(`${GATEWAY}/mcp/${server}`, version);
		assert.deepEqual(through, without);
		const passed = Object.values(through).flat().filter((status) => status === "SUCCESS").length;
		assert.ok(passed >= least, `${passed} checks pass, want ${least}`);
		console.log(`# ${version}: ${passed} checks of ${Object.keys(through).length} kinds pass, directly and through the gateway`);
	});
}

await main();
