package desktop

import (
	"errors"
	"fmt"
	"io"
	"maps"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// Service is the workstations of one configuration, and their tokens. It never changes; what
// changes is in its State, which it shares with the services before and after it.
type Service struct {
	*Inventory
	*Registry
	random io.Reader
	emit   emitter
	number int64 // a later configuration has a higher one
}

// emitter calls Config.Emit with the data of an event, which it makes only if the event is observed.
type emitter func(event string, data func() map[string]any)

func (c Config) emitter() emitter {
	return func(event string, data func() map[string]any) {
		if c.Emit != nil && (c.Observed == nil || c.Observed(event)) {
			c.Emit(event, data())
		}
	}
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
	w := &Service{
		Inventory: &Inventory{policy: c.Policy, declared: make(map[ID]*Target, len(c.Workstations)), state: c.State},
		random:    c.Random,
		emit:      c.emitter(),
		number:    c.State.services.Add(1),
	}
	w.Registry = &Registry{inventory: w.Inventory, storage: c.Storage, emit: w.emit}
	for _, spec := range c.Workstations {
		if err := spec.ID.check(); err != nil {
			return nil, err
		}
		if _, twice := w.declared[spec.ID]; twice {
			return nil, fmt.Errorf("workstation %q of tenant %q is declared twice", spec.ID.Name, spec.ID.Tenant)
		}
		target := spec.Target
		target.guarded, target.networks = false, nil
		if err := target.check(); err != nil {
			return nil, fmt.Errorf("workstation %q: %w", spec.ID.Name, err)
		}
		w.declared[spec.ID] = &target
	}
	return w, nil
}

// Policy is the configured policy, defaults filled in. Callers must not change its maps and slices.
func (w *Service) Policy() Policy { return w.policy }

// Format prints nothing: a Service knows credentials.
func (w *Service) Format(f fmt.State, _ rune) { opaque(f, "workstations") }

// EndSession is EndSessionBy nobody in particular.
func (w *Service) EndSession(tenant, name, sid string) error {
	return w.EndSessionBy(tenant, name, sid, "")
}

// EndSessionBy ends one session by hand, for a key, and withdraws its token: the viewer would
// be back in a second. Other sessions of the token go on. It fails with [apierror.NotFound].
func (w *Service) EndSessionBy(tenant, name, sid, key string) error {
	s := w.state
	id := ID{tenant, name}
	if s.shared != nil {
		return w.endShared(id, sid, key)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !w.has(id) {
		return notFound(name)
	}
	if p := s.entries[id]; p != nil {
		if x := p.sessions[sid]; x != nil {
			s.endByHand(x, key)
			return nil
		}
	}
	return noSession(id, sid)
}

// endShared ends a session by hand that may be another gateway's.
func (w *Service) endShared(id ID, sid, key string) error {
	if _, err := w.Get(id.Tenant, id.Name); err != nil {
		return err
	}
	found, err := w.state.shared.endByHand(id, sid, key)
	if err == nil && !found {
		return noSession(id, sid)
	}
	return err
}

func noSession(id ID, sid string) error {
	return apierror.New(apierror.NotFound, "workstation %q has no session %q", clip(id.Name), clip(sid))
}

// EndOpenSession is EndSessionBy for a caller that knows only the session's id. A session that sees does
// not let through is not found.
func (w *Service) EndOpenSession(sid, key string, sees func(SessionView) bool) (SessionView, error) {
	s := w.state
	if s.shared != nil {
		for _, view := range w.OpenSessions(func(v SessionView) bool { return v.ID == sid && sees(v) }) {
			return view, w.endShared(ID{view.Tenant, view.Workstation}, sid, key)
		}
		return SessionView{}, noOpenSession(sid)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, p := range s.entries {
		if x := p.sessions[sid]; x != nil && w.has(id) {
			if view := x.view(); sees(view) {
				s.endByHand(x, key)
				return view, nil
			}
		}
	}
	return SessionView{}, noOpenSession(sid)
}

func noOpenSession(sid string) error {
	return apierror.New(apierror.NotFound, "there is no open session %q", clip(sid))
}
