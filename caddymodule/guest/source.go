package guest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// Source is a module of the namespace gatehouse.sources: a control plane that says where
// workstations are and who may have them. It is the member of its name in the JSON of a source and,
// if it implements caddyfile.Unmarshaler, an option of the block source NAME. It is asked from
// several goroutines, at most 64 at once, and must return when ctx ends. The gateway keeps answers,
// asks equal questions once, and counts a source that fails five times as down; an error is for the
// log only, so it must have no secret.
type Source interface {
	// Resolve says who may have a workstation, and where it is.
	Resolve(ctx context.Context, q Question) (Answer, error)
	// List returns a page of the workstations of a tenant. The first has the cursor "", and next is
	// that of the page after it, "" for none. The error is [ErrNoList] if there are no lists.
	List(ctx context.Context, tenant, cursor string) (items []Item, next string, err error)
}

// ErrNoList means that a source has no list.
var ErrNoList = errors.New("the source has no list")

// Reason says for what a workstation is wanted.
type Reason string

// The reasons.
const (
	Issue   Reason = "issue"   // somebody asks for an address
	Connect Reason = "connect" // a viewer comes with one
)

// Question is who wants which workstation.
type Question struct {
	Reason       Reason
	Tenant, Name string
	Caller       Caller
	ViewOnly     bool // what the caller has asked for
}

// Caller is who wants the workstation: the key, the user of it, and the address.
type Caller struct {
	Key     string     `json:"key"`
	User    string     `json:"user,omitempty"`   // who used the key, if that is known
	Address netip.Addr `json:"address,omitzero"` // of the client or viewer
}

// Decision is what a control plane says.
type Decision string

// The decisions.
const (
	Allow   Decision = "allow"
	Deny    Decision = "deny"    // not this caller, or not now: Reason
	Unknown Decision = "unknown" // there is no such workstation
	Wait    Decision = "wait"    // RetryAfter; it is being started, or somebody must agree
)

// Answer is what a control plane has said. It has a password: fmt prints none of it.
type Answer struct {
	Decision   Decision
	Address    string // host:port
	Generation string // says which machine it is; "": nothing does
	Credential string // the name of a declared one, instead of Login
	Login      *Login
	Session    json.RawMessage // rules of the session, as docs/vnc.md has them; nil for none
	Reason     string          // printable ASCII of at most 200 characters, "" for none
	RetryAfter time.Duration
	Cache      *time.Duration // how long an "allow" counts at most; nil: as configured
	Asked      time.Time      // set by the gateway: when the question was sent
}

// Format implements fmt.Formatter for every verb.
func (a Answer) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "{answer %s}", a.Decision) }

// Login is how the gateway logs in to the VNC server.
type Login struct {
	User     string    `json:"user"`
	Password string    `json:"password"`
	TLS      *LoginTLS `json:"tls"` // nil: not encrypted
}

// Format implements fmt.Formatter for every verb.
func (Login) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, "{login}") }

// LoginTLS is how the VNC server's certificate is checked: by the system's CAs, or by its key.
type LoginTLS struct {
	PinnedKey  string `json:"pinned_key"` // sha256:HEX
	ServerName string `json:"server_name"`
}

// Item is a workstation in a list.
type Item struct {
	Name   string            `json:"workstation_id"`
	Labels map[string]string `json:"labels"`
	State  string            `json:"state"`
}
