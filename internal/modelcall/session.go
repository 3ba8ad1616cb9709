package modelcall

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// maxSession bounds the name of a session, in bytes. OpenRouter's limit is the same.
const maxSession = 256

// sessionFields and sessionHeaders name the session of a conversation, the first that is there:
// OpenRouter's, OpenAI's for its prompt cache; OpenRouter's, Codex's, Claude Code's.
var (
	sessionFields  = []string{"session_id", "prompt_cache_key"}
	sessionHeaders = []string{"X-Session-Id", "Session_id", "X-Claude-Code-Session-Id"}
)

// session names the conversation of a request, so that its calls go to the same target, whose prompt
// cache knows it. It is "" if the request does not say.
func session(c *call) string {
	name := ""
	for _, field := range sessionFields {
		if i, ok := c.body.Find(field); ok && name == "" {
			name, _ = jsonscan.String(c.body.Value(i))
		}
	}
	if name == "" {
		name = firstHeader(c.req.HTTP.Header, sessionHeaders)
	}
	if name == "" || len(name) > maxSession {
		return ""
	}
	return c.req.Caller.Tenant + "/" + c.req.Caller.Name + "/" + name
}

// firstHeader returns the first value of the first of these fields, in canonical spelling, that is
// not empty.
func firstHeader(h http.Header, fields []string) string {
	for _, field := range fields {
		if values := h[field]; len(values) > 0 && values[0] != "" {
			return values[0]
		}
	}
	return ""
}
