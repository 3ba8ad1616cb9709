package authserver

import "strings"

// What clients find by asking, and in which order they go on. A client of MCP knows the URL of its
// server alone:
//
//	POST /mcp/NAME                                       401, WWW-Authenticate: Bearer …
//	GET  /.well-known/oauth-protected-resource/mcp/NAME  the authorization server (RFC 9728)
//	GET  /.well-known/oauth-authorization-server         all that follows (RFC 8414)
//	POST /oauth/register                                 unless it has a URL as its ID (RFC 7591)
//	GET  /oauth/authorize?client_id=…&resource=…         the browser (RFC 6749, 7636, 8707)
//	303  http://127.0.0.1:…/callback?code=…&iss=…        the browser (RFC 9207)
//	POST /oauth/token                                    code_verifier=…
//
// A program that shows a code (RFC 8628) begins with POST /oauth/device_authorization.
const (
	MetadataPath  = "/.well-known/oauth-authorization-server"
	ResourcePath  = "/.well-known/oauth-protected-resource"
	RegisterPath  = "/oauth/register"
	AuthorizePath = "/oauth/authorize"
	DevicePath    = "/oauth/device_authorization"
	TokenPath     = "/oauth/token"
	RevokePath    = "/oauth/revoke"
	PagePath      = "/oauth/device"
	StylePath     = "/oauth/style.css"
)

const (
	// MCPPath begins the paths of resources: servers of tools, each with a name after it.
	MCPPath = "/mcp/"
	// ResourceScope is the right of a token for a resource, which implies what its tools need.
	ResourceScope = "mcp:call"
)

// resourceAt returns the path of a resource that a client asks for, "" for all of the gateway.
func resourceAt(origin, text string) (path string, ok bool) {
	path, ok = strings.CutPrefix(strings.TrimSuffix(text, "/"), origin)
	return path, text == "" || ok && (path == "" || isResource(path))
}

// maxName bounds the name of a resource, in bytes.
const maxName = 64

// isResource reports whether a path has the form of one of a resource.
func isResource(path string) bool {
	name, ok := strings.CutPrefix(path, MCPPath)
	return ok && name != "" && len(name) <= maxName && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
