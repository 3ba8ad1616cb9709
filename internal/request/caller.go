package request

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/redact"
)

// Caller is the holder of a valid key.
type Caller struct {
	keys.Credential
	Secret string // the key as it was sent, to be taken out of provider text; "" if it was not
	// SignedIn is the SHA-256, in hex, of the secret with which a caller without Secret has signed in.
	SignedIn string
	// User is who uses the key, if a single sign-on has said so; else "".
	User string
	// Limits are those of a key that was made at run time. Nil: the configuration has them.
	Limits *policy.KeyLimits
}

// Configured is the name by which the configuration has options for the caller: of its role, or of
// its key.
func (c *Caller) Configured() string {
	if c.Limits != nil && c.Limits.Holder != nil {
		return c.Limits.Holder.Role
	}
	return c.Name
}

// SecretHash is the SHA-256 of the caller's secret, in hex. It is not Hash for a key made at run time
// whose secret was replaced.
func (c *Caller) SecretHash() string {
	if c.Secret == "" {
		return c.SignedIn
	}
	sum := sha256.Sum256([]byte(c.Secret))
	return hex.EncodeToString(sum[:])
}

// LeavesTool is [keys.LeavesTool] of the key of a caller.
func LeavesTool(c *Caller, servers []string, server, tool string) bool {
	return keys.LeavesTool(c.Key, servers, server, tool)
}

// SafeName returns a name that the caller has chosen as answers and records show it: without the
// caller's own secret, and not longer than a name is.
func (c *Caller) SafeName(name string) string { return clip(redact.Own(name, c.Secret)) }

// Route describes a request to its record.
type Route struct {
	Name   string // "POST /v1/chat/completions"
	Family string // as api.Parse knows it: "openai", "openrouter", "anthropic" or "google"
	// Recorded requests leave a record when they succeed, too.
	Recorded bool
	// Quiet requests leave no record when they fail, either, and a line in the log at debug only: pages
	// of the console send them again and again.
	Quiet bool
	// Transport is how the request came, "" for one of HTTP; Connection is the id of the connection
	// that has brought it with others.
	Transport, Connection string
}

// IDs are the names of one request: RequestID (ours, x-request-id), GenerationID (ours, the
// record's), Client (the client's own).
type IDs struct {
	RequestID, GenerationID, Client string
}
