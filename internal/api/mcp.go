package api

// MCP is the family of MCP clients, below /mcp/. Its refusals have the shape of OpenAI's until the
// message of JSON-RPC is known; after that they are errors of JSON-RPC.
type MCP struct{ OpenAI }

// Name implements [API].
func (MCP) Name() string { return "mcp" }
