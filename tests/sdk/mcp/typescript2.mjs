// @modelcontextprotocol/client, the second generation of the TypeScript SDK.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { main } from "./contract.mjs";
import { suite } from "./tools.mjs";

suite({
	eras: [
		{ version: "2026-07-28", servers: ["demo", "stateless"], options: { versionNegotiation: { mode: "auto" } } },
		{ version: "2025-11-25", servers: ["demo"], options: { versionNegotiation: { mode: "legacy" } } },
		{ version: "2025-11-25", servers: ["sessions"], options: { versionNegotiation: { mode: "auto" } } },
	],
	client: (options) => new Client({ name: "suite", version: "1" }, options),
	transport: (url, options) => new StreamableHTTPClientTransport(url, options),
	version: (client) => client.getNegotiatedProtocolVersion(),
	answer: (client, method, handler) => client.setRequestHandler(method, handler),
	call: (client, params, options) => client.callTool(params, options),
});

await main();
