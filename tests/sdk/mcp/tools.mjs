// What both generations of the TypeScript SDK do with MCP servers behind the gateway. demo is the
// built-in server; stateless and sessions are the Go SDK's server for conformance tests, as a server
// of 2026-07-28 and as one of 2025-11-25.

import assert from "node:assert/strict";
import { KEY, ORIGIN, test } from "./contract.mjs";

const NARROW_KEY = process.env.GATEWAY_NARROW_KEY; // mcp:call, and of demo the tool echo only

const text = (result) => result.content[0].text;

// shows wants an error with a sentence, in its message or, where the SDK writes its own, in the body that
// it keeps.
const shows = (sentence) => (error) => {
	assert.match([error, error.text, error.data?.text].join(" "), sentence);
	return true;
};

// suite adds the cases of an SDK for each era that it knows.
export function suite(sdk) {
	const connect = async (server, era, key = KEY) => {
		const client = sdk.client({ ...era.options, capabilities: { sampling: {}, elicitation: {} } });
		sdk.answer(client, "sampling/createMessage", () => ({ role: "assistant", model: "m", content: { type: "text", text: "sampled" } }));
		sdk.answer(client, "elicitation/create", () => ({ action: "accept", content: { name: "Ada", username: "ada", email: "a@example.com" } }));
		const requestInit = { headers: { Authorization: `Bearer ${key}` } };
		await client.connect(sdk.transport(new URL(`${ORIGIN}/mcp/${server}`), { requestInit }));
		assert.equal(sdk.version(client), era.version);
		return client;
	};
	for (const era of sdk.eras) {
		const name = (what) => `${what}, ${era.version} of ${era.servers.join(" and ")}`;
		if (era.servers.includes("demo")) {
			test(name("tools round trip"), async () => {
				const client = await connect("demo", era);
				const { tools } = await client.listTools();
				assert.deepEqual(tools.map((t) => t.name), ["echo", "time", "slow", "error"]);
				const echo = await sdk.call(client, { name: "echo", arguments: { text: "hü <b>" } });
				assert.equal(text(echo), "hü <b>");
				assert.equal(Boolean(echo.isError), false);
				assert.equal((await sdk.call(client, { name: "error", arguments: {} })).isError, true);
				await assert.rejects(sdk.call(client, { name: "none", arguments: {} }), (e) => e.code === -32602);
				await client.close();
			});

			test(name("progress comes before the answer"), async () => {
				const client = await connect("demo", era);
				const seen = [];
				const slow = await sdk.call(client, { name: "slow", arguments: { seconds: 2 } }, { onprogress: (p) => seen.push(p.progress) });
				assert.equal(text(slow), "That took 2 s.");
				assert.deepEqual(seen, [1]);
				await client.close();
			});

			test(name("a key has its tools and no others"), async () => {
				const client = await connect("demo", era, NARROW_KEY);
				assert.deepEqual((await client.listTools()).tools.map((t) => t.name), ["echo"]);
				await assert.rejects(sdk.call(client, { name: "time", arguments: {} }), (e) => e.code === -32602);
				await client.close();
			});

			test(name("a wrong key or server ends at once"), async () => {
				await assert.rejects(connect("demo", era, "gh-wrong"), shows(/API key is missing or not valid/));
				await assert.rejects(connect("stateless", era, NARROW_KEY), shows(/this key may not use it/));
				await assert.rejects(connect("none", era), shows(/does not exist/));
			});
		}
		for (const server of era.servers.filter((s) => s !== "demo")) {
			test(name("a server asks the client"), async () => {
				const client = await connect(server, era);
				const tools = server === "sessions"
					? [["test_sampling", { prompt: "hello" }], ["test_elicitation", { message: "who?" }]]
					: [["test_input_required_result_sampling", {}], ["test_input_required_result_elicitation", {}]];
				for (const [tool, args] of tools) {
					const answer = await sdk.call(client, { name: tool, arguments: args });
					assert.equal(Boolean(answer.isError), false, JSON.stringify(answer));
				}
				await client.close();
			});

			test(name("resources and prompts"), async () => {
				const client = await connect(server, era);
				assert.ok((await client.listResources()).resources.length);
				assert.ok((await client.readResource({ uri: "test://static-text" })).contents[0].text);
				const prompt = await client.getPrompt({ name: "test_prompt_with_arguments", arguments: { arg1: "one", arg2: "two" } });
				assert.ok(prompt.messages[0].content.text.includes("one"));
				await client.close();
			});
		}
	}
}
