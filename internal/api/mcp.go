package api

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp"
)

// MCP is the family of MCP clients, below /mcp/.
type MCP struct{ OpenAI }

// Name implements [API].
func (MCP) Name() string { return "mcp" }

// AppendError implements [API]. A refusal before the message of JSON-RPC is known is an error of JSON-RPC
// too: SDKs show the text of no other body.
func (MCP) AppendError(dst []byte, e *apierror.Error, _ string) []byte {
	own := mcp.ErrorOf(e)
	own.Type = e.Type()
	return mcp.AppendError(dst, nil, own)
}
