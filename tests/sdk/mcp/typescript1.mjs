// @modelcontextprotocol/sdk, the first generation of the TypeScript SDK: it knows sessions only.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CreateMessageRequestSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { main } from "./contract.mjs";
import { suite } from "./tools.mjs";

const schemas = { "sampling/createMessage": CreateMessageRequestSchema, "elicitation/create": ElicitRequestSchema };

suite({
	eras: [{ version: "2025-11-25", servers: ["demo", "sessions"], options: {} }],
	client: (options) => new Client({ name: "suite", version: "1" }, options),
	transport: (url, options) => new StreamableHTTPClientTransport(url, options),
	version: (client) => client.transport.protocolVersion,
	answer: (client, method, handler) => client.setRequestHandler(schemas[method], handler),
	call: (client, params, options) => client.callTool(params, undefined, options),
});

await main();
