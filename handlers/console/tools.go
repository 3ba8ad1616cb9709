package console

import (
	"context"
	"errors"

	"github.com/gatehouse-proxy/gatehouse/internal/console"
	mcp "github.com/gatehouse-proxy/gatehouse/internal/mcp/client"
)

// listTools asks an MCP server for its tools. The error has what the server says.
func listTools(ctx context.Context, send console.Sender) (version string, tools []console.Tool, err error) {
	version, found, err := mcp.List(ctx, send)
	if refused, ok := errors.AsType[*mcp.Error](err); ok && refused.Message != "" {
		return "", nil, errors.New(refused.Message)
	}
	for _, t := range found {
		tools = append(tools, console.Tool{Name: t.Name, Title: t.Title, Description: t.Description})
	}
	return version, tools, err
}
