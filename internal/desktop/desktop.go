// Package desktop decides which viewer may open which desktop. It has the workstations, the
// tokens that open them, the open sessions, and the release that ends both.
//
//	state := desktop.NewState(time.Now, store)     // outlives configurations
//	service, err := desktop.New(desktop.Config{…}) // of one configuration; never changes
//	err = service.Start(ctx)                       // reads registrations and release marks
//	issued, err := service.Issue(issuer, "desk1", desktop.Options{})
//
//	label, ok := service.Policy().Label(serverName) // of a viewer
//	pass, err := service.Find(label, viewer)        // who, where to; counts nothing
//	session, err := pass.Join(viewer, "x509none")   // the first use
//	defer session.Leave()
//
// A token is 130 random bits, the one label before the domain. Memory holds its
// SHA-256 only, and its first eight characters where VNC authentication is on.
//
//	issue ──► unused ──first Join──► in use ──last ended─► idle ──Join──► in use
//	            │ expires_at            │ max_duration        │ reconnect_within
//	            └───────────────────────┴──────► dead ◄───────┘  (also: release, revocation)
//
// What gateways know together of one workstation is a value, [Workstation]: its tokens and sessions. The
// rules change a copy, and a [Store] replaces the value if nobody else has: package memory is the store
// of one gateway, package valkey that of several. The State has this gateway's sessions, registrations
// and release marks.
//
// Callers over HTTP get an *[apierror.Error], viewers a *[Refusal]. Nothing here runs by itself: a
// goroutine takes each session that ends out of the store, and Leave waits for it. Expired tokens are
// swept when the next one is issued. In a cluster, package valkey calls [Shared].
package desktop

import (
	"context"
	"fmt"
	"hash/maphash"
	"io"
	"regexp"
)

// ID names a workstation. Another tenant's workstation of the same name is a
// different one, and to everybody else is not there.
type ID struct{ Tenant, Name string }

// String is for logs.
func (id ID) String() string { return id.Tenant + "/" + id.Name }

var (
	validName   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)
	validTenant = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`)
)

// nameRule is validName in words.
const nameRule = "a name is 1 to 128 letters, digits and . _ -, beginning with a letter or digit"

// turn is the place in a queue of the changes of a workstation.
func (id ID) turn() int { return int(maphash.Comparable(turnSeed, id) % turnstiles) }

var turnSeed = maphash.MakeSeed()

func (id ID) check() error {
	if !validName.MatchString(id.Name) {
		return fmt.Errorf("workstation %.140q: %s", id.Name, nameRule)
	}
	if !validTenant.MatchString(id.Tenant) {
		return fmt.Errorf("workstation %q: %.80q is not the name of a tenant", id.Name, id.Tenant)
	}
	return nil
}

// Spec is a workstation that the configuration declares.
type Spec struct {
	ID     ID
	Target Target
}

// Levels are rules for the sessions of a tenant, and for those whose address a key has asked for. They
// do not change.
type Levels struct {
	Tenants map[string]SessionRules
	Keys    map[KeyName]SessionRules
}

// KeyName is a key of a tenant.
type KeyName struct{ Tenant, Key string }

// Config is what New needs.
type Config struct {
	Policy
	Levels
	Workstations []Spec
	Sources      []Source
	State        *State
	Storage      Storage   // keeps registrations and release marks
	Random       io.Reader // crypto/rand.Reader; safe for concurrent use

	// Emit is called with the events named by the Event constants, if it is not nil. It is called
	// without a lock, in the goroutine that caused the event, and must not block.
	Emit func(event string, data map[string]any)
	// Observed reports whether Emit is worth calling for an event; nil: always.
	Observed func(event string) bool
}

// The events. Their data hold no token and no credential.
const (
	EventReleased      = "workstation_released" // tenant, workstation, sessions
	EventSessionOpened = "vnc_session_opened"   // tenant, workstation, session, token, key, viewer, security; role of a guest or agent, joined of a guest
	EventSessionClosed = "vnc_session_closed"   // those and reason, seconds, bytes_up, bytes_down
	EventControl       = "control_changed"      // tenant, workstation, holder, session, that has it now, or had it last
	EventHelp          = "control_requested"    // tenant, workstation, key, note
)

// Storage has the shapes of certmagic.Storage. The error for a missing key is fs.ErrNotExist.
type Storage interface {
	Store(ctx context.Context, key string, value []byte) error
	Load(ctx context.Context, key string) ([]byte, error)
	Delete(ctx context.Context, key string) error
	List(ctx context.Context, path string, recursive bool) ([]string, error)
}

// opaque makes fmt print, with any verb, no more than a name for a value that holds secrets.
func opaque(f fmt.State, what string) { fmt.Fprint(f, "{", what, "}") }
