// The OAuth client of a generation of the TypeScript SDK signs a person in, calls a tool, and again
// once its token has ended.

import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";

const { ORIGIN, PERSON } = process.env;
const generation = process.argv[2];
const [{ Client }, { StreamableHTTPClientTransport }] =
	generation === "sdk"
		? [await import("@modelcontextprotocol/sdk/client/index.js"), await import("@modelcontextprotocol/sdk/client/streamableHttp.js")]
		: await import("@modelcontextprotocol/client").then((m) => [m, m]);

const provider = {
	opened: 0,
	redirectUrl: "http://localhost:8765/callback",
	clientMetadata: { client_name: `TypeScript ${generation}`, redirect_uris: ["http://localhost:8765/callback"] },
	clientInformation: () => provider.info,
	saveClientInformation: (info) => void (provider.info = info),
	tokens: () => provider.kept,
	saveTokens: (tokens) => void (provider.kept = tokens),
	codeVerifier: () => provider.verifier,
	saveCodeVerifier: (verifier) => void (provider.verifier = verifier),
	state: () => "the state",
	async redirectToAuthorization(url) {
		provider.opened++;
		const answer = await fetch(`${PERSON}?${new URLSearchParams({ url: url.href })}`);
		provider.back = new URL(await answer.text()).searchParams;
	},
};

async function connect() {
	const transport = new StreamableHTTPClientTransport(new URL(`${ORIGIN}/mcp/demo`), { authProvider: provider });
	const client = new Client({ name: "suite", version: "1" });
	try {
		await client.connect(transport);
		return client;
	} catch (error) {
		if (error.constructor.name !== "UnauthorizedError" || provider.opened > 1) throw error;
		assert.equal(provider.back.get("state"), "the state");
		await (generation === "sdk" ? transport.finishAuth(provider.back.get("code")) : transport.finishAuth(provider.back));
		return connect();
	}
}

const post = (server, token) => fetch(`${ORIGIN}/mcp/${server}`, { method: "POST", headers: { Authorization: `Bearer ${token}` } });
const echo = async (client) => (await client.callTool({ name: "echo", arguments: { text: "hello" } })).content[0].text;

const client = await connect();
console.log("first:", await echo(client));
const first = provider.kept.access_token;
const deadline = Date.now() + 60_000;
while ((await post("demo", first)).status !== 401) {
	assert.ok(Date.now() < deadline, "the token does not end");
	await setTimeout(200);
}
const renewed = await echo(client);
assert.ok(provider.kept.access_token !== first && provider.opened === 1, `opened ${provider.opened} times`);
console.log("renewed:", renewed);
console.log("elsewhere:", (await post("other", provider.kept.access_token)).status === 401 ? "refused" : "not refused");
await client.close();
