package desktop

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// Credential is a login that the configuration declares for workstations
// registered at run time. It is never encoded and never printed.
type Credential struct {
	User, Password string
	// Root is the secret from which the password of each machine is derived, instead of Password.
	Root string
	TLS  *tls.Config // nil: the workstation is reached without TLS
	// Tenants that can name it; empty: all. A tenant that can name it can have it sent to a server
	// of its own within the networks.
	Tenants []string
}

func (c *Credential) allows(tenant string) bool {
	return len(c.Tenants) == 0 || slices.Contains(c.Tenants, tenant)
}

// namedTLS holds a certificate against the host of an address, unless the
// configuration names another or checks by other means.
func namedTLS(config *tls.Config, address string) *tls.Config {
	if config == nil || config.ServerName != "" || config.InsecureSkipVerify {
		return config
	}
	named := config.Clone()
	named.ServerName, _, _ = net.SplitHostPort(address) // checked when it was registered
	return named
}

// Target is how a workstation's VNC server is reached. It holds secrets: it is
// never encoded, and fmt prints none of it.
type Target struct {
	// TestCard serves the built-in desktop, with a name, until the connection ends; the rest is
	// empty then. Nil: there is a server.
	TestCard       func(ctx context.Context, conn net.Conn, name string) error
	Address        string // host:port
	User, Password string
	TLS            *tls.Config // nil: no TLS; non-nil: nothing but TLS
	Session        SessionRules
	// Derived is set if the password says which machine it is: one that does not ask for it is
	// another.
	Derived bool

	guarded  bool // registered at run time: networks and ports decide
	networks []netip.Prefix
	ports    Ports
}

// Format implements fmt.Formatter for every verb.
func (Target) Format(f fmt.State, _ rune)     { opaque(f, "target") }
func (Target) String() string                 { return "{target}" }
func (Target) GoString() string               { return "{target}" }
func (Target) MarshalJSON() ([]byte, error)   { return []byte(`{}`), nil }
func (Credential) Format(f fmt.State, _ rune) { opaque(f, "credential") }
func (Credential) String() string             { return "{credential}" }
func (Credential) GoString() string           { return "{credential}" }
func (Credential) MarshalJSON() ([]byte, error) {
	return []byte(`{}`), nil
}

// login sets the login of a target by a declared credential; "" is none. It reports whether the
// workstation may have it.
func (t *Target) login(credentials map[string]Credential, credential string, id ID, machine string) bool {
	if credential == "" {
		return true
	}
	login, ok := credentials[credential]
	if !ok || !login.allows(id.Tenant) || login.Root != "" && machine == "" {
		return false
	}
	t.User, t.Password, t.TLS = login.User, login.Password, namedTLS(login.TLS, t.Address)
	if login.Root != "" {
		t.Password, t.Derived = derivePassword(login.Root, id, machine), true
	}
	return true
}

// check is for a declared target.
func (t *Target) check() error {
	if t.TestCard != nil {
		if t.Address != "" || t.User != "" || t.Password != "" || t.TLS != nil {
			return errors.New("a test card has no address and no credential")
		}
		return nil
	}
	if t.Address == "" {
		return errors.New("no address")
	}
	host, _, err := net.SplitHostPort(t.Address)
	if err != nil || host == "" {
		return fmt.Errorf("address %q is not host:port", t.Address)
	}
	return nil
}

// DialTimeout bounds one Dial, also where the context allows more.
const DialTimeout = 10 * time.Second

// ErrUnreachable is the one text for a workstation that is not there, refuses, is filtered, or is
// outside the allowed networks: a tenant that registers addresses at run time learns nothing about
// the network from it. The cause is wrapped.
var ErrUnreachable = errors.New("the workstation cannot be reached")

type dialError struct{ cause error }

func (e *dialError) Error() string        { return ErrUnreachable.Error() }
func (e *dialError) Is(target error) bool { return target == ErrUnreachable }
func (e *dialError) Unwrap() error        { return e.cause } // for the operator's log

// Dial opens a TCP connection to the workstation. For one registered at run time the address is
// checked after it is resolved, just before it is dialled; own reports whether the gateway listens
// on an address (nil: on none). Every error is [ErrUnreachable].
func (t *Target) Dial(ctx context.Context, own func(netip.AddrPort) bool) (net.Conn, error) {
	if t.TestCard != nil {
		return nil, &dialError{errors.New("a test card has no address")}
	}
	conn, err := t.dialer(own).DialContext(ctx, "tcp", t.Address)
	if err != nil {
		return nil, &dialError{err}
	}
	return conn, nil
}

func (t *Target) dialer(own func(netip.AddrPort) bool) *net.Dialer {
	d := &net.Dialer{Timeout: DialTimeout, KeepAlive: -1} // the relay sets its own
	if t.guarded {
		d.Control = func(_, resolved string, _ syscall.RawConn) error { return t.permit(resolved, own) }
	}
	return d
}

func (t *Target) permit(resolved string, own func(netip.AddrPort) bool) error {
	ap, err := netip.ParseAddrPort(resolved)
	if err != nil {
		return fmt.Errorf("resolved address: %w", err)
	}
	if !allowed(t.networks, ap, own) {
		return errOutside
	}
	if !t.ports.has(ap.Port()) {
		return errPort
	}
	return nil
}
