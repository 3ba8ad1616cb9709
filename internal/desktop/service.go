package desktop

import (
	"context"
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
	Sources *Sources // control planes that know more workstations
	Input   *Inputs  // who holds the input of workstations
	random  io.Reader
	emit    emitter
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

// released emits that a workstation was released, and how many sessions that ended.
func (e emitter) released(id ID, sessions int) {
	e(EventReleased, func() map[string]any {
		return map[string]any{"tenant": id.Tenant, "workstation": id.Name, "sessions": sessions}
	})
}

// control emits that the input of a workstation has another holder.
func (e emitter) control(id ID, holder, session string) {
	e(EventControl, func() map[string]any {
		return map[string]any{"tenant": id.Tenant, "workstation": id.Name, "holder": holder, "session": session}
	})
}

// New checks a configuration and changes nothing in the State. Errors name
// the option or the workstation at fault.
func New(c Config) (*Service, error) {
	if c.State == nil || c.Storage == nil || c.Random == nil {
		return nil, errors.New("a service needs a state, a storage and randomness")
	}
	c.Policy.fill()
	if err := errors.Join(c.Policy.check(), c.Policy.mayRecord(c.Policy.Session)); err != nil {
		return nil, err
	}
	for tenant, rules := range c.Levels.Tenants {
		if err := c.Policy.mayRecord(rules); err != nil {
			return nil, fmt.Errorf("tenant %q: %w", tenant, err)
		}
	}
	for key, rules := range c.Levels.Keys {
		if err := c.Policy.mayRecord(rules); err != nil {
			return nil, fmt.Errorf("key %q: %w", key.Key, err)
		}
	}
	c.Policy.Credentials = maps.Clone(c.Policy.Credentials)
	w := &Service{
		Inventory: &Inventory{state: c.State, config: &configuration{
			policy: c.Policy, levels: c.Levels,
			declared: make(map[ID]*Target, len(c.Workstations)), number: c.State.services.Add(1),
		}},
		random: c.Random,
		emit:   c.emitter(),
	}
	var err error
	if w.config.sources, err = newSources(c.Sources, c.State); err != nil {
		return nil, err
	}
	w.Sources, w.Input = &Sources{w.Inventory, w.emit}, &Inputs{w.Inventory, w.emit}
	w.Registry = &Registry{inventory: w.Inventory, storage: c.Storage, emit: w.emit}
	for _, spec := range c.Workstations {
		if err := spec.ID.check(); err != nil {
			return nil, err
		}
		if _, twice := w.config.declared[spec.ID]; twice {
			return nil, fmt.Errorf("workstation %q of tenant %q is declared twice", spec.ID.Name, spec.ID.Tenant)
		}
		target := spec.Target
		target.guarded, target.networks = false, nil
		if err := errors.Join(target.check(), c.Policy.mayRecord(target.Session)); err != nil {
			return nil, fmt.Errorf("workstation %q: %w", spec.ID.Name, err)
		}
		w.config.declared[spec.ID] = &target
	}
	return w, nil
}

// Policy is the configured policy, defaults filled in. Callers must not change its maps and slices.
func (w *Service) Policy() Policy { return w.config.policy }

// Format prints nothing: a Service knows credentials.
func (w *Service) Format(f fmt.State, _ rune) { opaque(f, "workstations") }

// EndSession ends one session by hand, for a key, and withdraws its token: the viewer would
// be back in a second. Other sessions of the token go on. It fails with [apierror.NotFound].
func (w *Service) EndSession(tenant, name, sid, key string) error {
	id := ID{tenant, name}
	if err := w.check(id); err != nil {
		return err
	}
	s, found := w.state.sessions, false
	ctx, cancel := message()
	defer cancel()
	err := s.apply(ctx, id, func(at *Workstation) { found = at.endByHand(sid, key, s.now()) || found })
	here := s.get(id, sid)
	switch {
	case err == nil && !found:
		return noSession(id, sid)
	case err != nil && here == nil:
		return errNoStore(err)
	case err != nil:
		here.end(ReasonEnded, key, s.now())
		s.queueRetry(func(ctx context.Context) error {
			return s.apply(ctx, id, func(at *Workstation) { at.retire(at.Token(here.token().Hash), RefusedRevoked) })
		})
	}
	return nil
}

func noSession(id ID, sid string) error {
	return apierror.New(apierror.NotFound, "workstation %q has no session %q", clip(id.Name), clip(sid))
}

// EndOpenSession is EndSession for a caller that knows only the session's id. A session that sees does
// not let through is not found.
func (w *Service) EndOpenSession(sid, key string, sees func(SessionView) bool) (SessionView, error) {
	for _, view := range w.OpenSessions(func(v SessionView) bool { return v.ID == sid && sees(v) }) {
		return view, w.EndSession(view.Tenant, view.Workstation, sid, key)
	}
	return SessionView{}, apierror.New(apierror.NotFound, "there is no open session %q", clip(sid))
}
