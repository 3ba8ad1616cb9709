package authserver

import "strings"

// What clients find by asking, and in which order they go on. A client of MCP knows the URL of its
// server alone:
//
//	POST /mcp/NAME                                          401, WWW-Authenticate: resource_metadata=…
//	GET  /.well-known/oauth-protected-resource/mcp/NAME     RFC 9728: the authorization server
//	GET  /.well-known/oauth-authorization-server            RFC 8414: all that follows
//	POST /oauth/register                                    RFC 7591, unless the client has a URL as its ID
//	GET  /oauth/authorize?client_id=…&resource=…            the browser: RFC 6749, 4.1; RFC 7636; RFC 8707
//	302  http://127.0.0.1:…/callback?code=…&iss=…           RFC 9207
//	POST /oauth/token
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
