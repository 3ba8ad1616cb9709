//go:build linux

package main

import "net/http"

// The call of a tool of an MCP server: 1 KB of arguments, as much of a result.

const (
	toolPath   = "/mcp/bench"
	toolServer = "bench"

	// toolHeader says the version and what the body names, as MCP 2026-07-28 wants it.
	toolHeader = "Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: search\r\n"
)

// toolCase is compared with the plain proxy.
func toolCase(small benchCase) benchCase {
	small.name, small.path, small.goal, small.check = "mcp-1k", toolPath, goal{1.3, 1.1}, checkToolResult
	return small
}

func toolBody(_ string, _ bool, size int, prompt promptKind) ([]byte, error) {
	return enclose(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"search","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientCapabilities":{}},"arguments":{"text":"`, `"}}}`, size, prompt)
}

func toolAnswer() template {
	return newTemplate(`{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","content":[{"type":"text","text":"`+words(answerWords)+
		`"}],"structuredContent":{"received":`+slotTokens+`},"isError":false}}`, slotTokens)
}

// checkToolResult expects the result of a body as long as the one sent.
func checkToolResult(a answer, sent int, _ string) error {
	if err := checkHead(a, http.StatusOK, "application/json"); err != nil {
		return err
	}
	return checkUsage(a.body, `"received":`, sent)
}
