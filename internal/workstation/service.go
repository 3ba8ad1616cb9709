package workstation

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"sync/atomic"
)

// Service is the workstations of one configuration. It never changes; what changes
// is in its State, which it shares with the services before and after it.
type Service struct {
	policy   Policy
	declared map[ID]*Target
	state    *State
	storage  Storage
	random   io.Reader
	emit     func(string, map[string]any)
	number   int64 // a later configuration has a higher one
	ready    atomic.Bool
}

// New checks a configuration and changes nothing in the State. Errors name
// the option or the workstation at fault.
func New(c Config) (*Service, error) {
	if c.State == nil || c.Storage == nil || c.Random == nil {
		return nil, errors.New("a service needs a state, a storage and randomness")
	}
	c.Policy.fill()
	if err := c.Policy.check(); err != nil {
		return nil, err
	}
	c.Policy.Credentials = maps.Clone(c.Policy.Credentials)
	d := &Service{
		policy:   c.Policy,
		declared: make(map[ID]*Target, len(c.Workstations)),
		state:    c.State,
		storage:  c.Storage,
		random:   c.Random,
		emit:     c.Emit,
		number:   c.State.services.Add(1),
	}
	if d.emit == nil {
		d.emit = func(string, map[string]any) {}
	}
	for _, spec := range c.Workstations {
		if err := spec.ID.check(); err != nil {
			return nil, err
		}
		if _, twice := d.declared[spec.ID]; twice {
			return nil, fmt.Errorf("workstation %q of tenant %q is declared twice", spec.ID.Name, spec.ID.Tenant)
		}
		target := spec.Target
		target.guarded, target.networks = false, nil
		if err := target.check(); err != nil {
			return nil, fmt.Errorf("workstation %q: %w", spec.ID.Name, err)
		}
		d.declared[spec.ID] = &target
	}
	return d, nil
}

// Policy is the configured policy, defaults filled in. Callers must not change
// its maps and slices.
func (d *Service) Policy() Policy { return d.policy }

// Ready is the fault storage_unavailable until Start has succeeded: what is
// released is not known before.
func (d *Service) Ready() error {
	if !d.ready.Load() {
		return errNotStarted()
	}
	return nil
}

// Warning is a line for the log at load: what works, but for some viewers does
// not. "" is none.
func (d *Service) Warning() string { return d.policy.warning() }

// Format prints nothing: a Service knows credentials.
func (d *Service) Format(f fmt.State, _ rune) { opaque(f, "desk") }

// has reports whether the service has the workstation, released or not; State.mu is
// held.
func (d *Service) has(id ID) bool {
	return d.declared[id] != nil || d.state.entries[id].registered()
}

// target is where id is; nil where the configuration cannot reach it. State.mu
// is held.
func (d *Service) target(id ID) *Target {
	if t := d.declared[id]; t != nil {
		return t
	}
	p := d.state.entries[id]
	if !p.registered() {
		return nil
	}
	t := &Target{Address: p.record.Address, guarded: true, networks: d.policy.Networks}
	if name := p.record.Credential; name != "" {
		login, ok := d.policy.Credentials[name]
		if !ok || !login.allows(id.Tenant) {
			return nil
		}
		t.User, t.Password, t.TLS = login.User, login.Password, namedTLS(login.TLS, p.record.Address)
	}
	return t
}

func newSessionID(random io.Reader) (string, error) {
	var raw [8]byte
	if _, err := io.ReadFull(random, raw[:]); err != nil {
		return "", fmt.Errorf("reading randomness: %w", err)
	}
	return "vnc-" + hex.EncodeToString(raw[:]), nil
}
