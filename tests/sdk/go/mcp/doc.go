// Package mcp drives MCP servers behind a running gateway with the Go SDK of MCP. It only has tests;
// the driver (tests/sdk/run) sets what they need.
package mcp
