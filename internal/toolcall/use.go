package toolcall

import (
	"context"

	"github.com/gatehouse-proxy/gatehouse/internal/admission"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/toolserver"
)

// use is what holds for a use of a server by any door: rates and slots, the price of a tool, guardrails.
type use struct {
	deps   *Deps
	req    *request.Request
	key    *policy.KeyLimits
	server *toolserver.Server // nil: only what holds for the key does

	permits  admission.Permits
	spending admission.Spending
	guard    admission.Guard
}

func useOf(d *Deps, q *request.Request) use {
	key := d.Limits.Of(q.Caller.Key, q.Caller.Limits)
	return use{
		deps: d, req: q, key: key,
		permits: admission.PermitsOf(d.Deps, q), spending: admission.SpendingOf(d.Deps, q, key), guard: admission.GuardOf(d.Deps, q, "MCP server"),
	}
}

// of notes the server, and in the record what of it is used.
func of(u *use, s *toolserver.Server, model string) {
	u.server = s
	r := u.req.Outcome.Record
	r.Provider, r.Model, r.Priced = s.Name, model, true
}

// enter counts the request against the rates, and takes slots.
func (u *use) enter(ctx context.Context) error {
	if err := u.permits.Enter(u.key.Subjects, 0); err != nil || u.server == nil {
		return err
	}
	if s := u.deps.Limits.Server(u.server.Name); s != nil {
		return u.permits.EnterNamed(ctx, *s)
	}
	return nil
}

// reserve takes the price of a tool from the budgets. A tool without a price is free.
func (u *use) reserve(ctx context.Context, tool string) error {
	if u.server == nil {
		return nil
	}
	if nano := u.server.Price(tool); nano > 0 {
		return u.spending.ReservePrice(ctx, nano)
	}
	return nil
}

// guarded reports whether guardrails judge the use.
func (u *use) guarded() bool {
	if u.deps.Guardrails.Empty() {
		return false
	}
	name := ""
	if u.server != nil {
		name = u.server.Name
	}
	u.guard.Set = u.deps.Guardrails.OfServer(u.req.Caller.Configured(), name)
	return u.guard.Set != nil
}

// settle ends what the use holds. It costs the price if it was served.
func (u *use) settle(served bool) {
	u.permits.Settle(0)
	u.req.Outcome.Record.CostNano = u.spending.SettlePrice(served)
}

// Direct is the use of a tool of the built-in server of desktops by a route of its own. What holds for the
// tool holds for the route, and its record names the tool.
type Direct struct {
	use
	tool     string
	admitted bool
}

// UseDesktops lets a request do what a tool of the server of desktops does: insufficient_scope unless it may.
// Where the configuration has no such server, only what holds for the key does.
func UseDesktops(d *Deps, q *request.Request, tool string) (*Direct, error) {
	s, err := desktopsFor(d, q, tool)
	if err != nil {
		return nil, err
	}
	u := &Direct{use: useOf(d, q), tool: tool}
	if s != nil {
		of(&u.use, s, s.Name+"/"+tool)
	}
	q.Work = u
	return u, nil
}

// MayUseDesktops is UseDesktops for a request that neither counts nor costs anything.
func MayUseDesktops(d *Deps, q *request.Request, tool string) error {
	_, err := desktopsFor(d, q, tool)
	return err
}

// desktopsFor returns the server of desktops of which a request may use a tool, nil where there is none.
func desktopsFor(d *Deps, q *request.Request, tool string) (*toolserver.Server, error) {
	names := desktopServers(d)
	if len(names) == 0 {
		return nil, nil
	}
	for _, name := range names {
		if s := d.Servers.Named(name); s.AllowsTool(tool) && request.LeavesTool(&q.Caller, names, name, tool) {
			return s, nil
		}
	}
	e := withoutTool(q, names[0], tool)
	if request.LeavesTool(&q.Caller, names, names[0], tool) {
		e.RefusedBy = policy.RefusedBy(policy.ServerSubject(names[0]), "tools", "")
	}
	return nil, e
}

// LeavesDesktops refuses a key whose lists of tools leave it no such tool of a server of desktops.
func LeavesDesktops(d *Deps, q *request.Request, tool string) error {
	names := desktopServers(d)
	for _, name := range names {
		if request.LeavesTool(&q.Caller, names, name, tool) {
			return nil
		}
	}
	if len(names) == 0 {
		return nil
	}
	return withoutTool(q, names[0], tool)
}

func withoutTool(q *request.Request, server, tool string) *apierror.Error {
	e := apierror.New(apierror.InsufficientScope, "the key %q may not use the tool %s of the MCP server %q, so it may not do the same here", q.Caller.Name, tool, server)
	e.RefusedBy = policy.RefusedBy(policy.KeySubject(q.Caller.Name), "mcp", server)
	return e
}

// desktopServers returns the names of the servers of desktops: one as a rule.
func desktopServers(d *Deps) (names []string) {
	for s := range d.Servers.All() {
		if s.Desktops {
			names = append(names, s.Name)
		}
	}
	return names
}

// Admit has the limits and guardrails let the request go on. It returns the body that guardrails put in place
// of its own, nil if that stays. After it the use counts as served: it costs the price of the tool.
func (u *Direct) Admit(ctx context.Context, body []byte) ([]byte, error) {
	if err := u.enter(ctx); err != nil { // 429
		return nil, err
	}
	if err := u.reserve(ctx, u.tool); err != nil { // 402 503
		return nil, err
	}
	var edited []byte
	if body != nil && u.guarded() { // 400 413 422 503
		var err error
		if edited, err = u.guard.Request(ctx, body, false); err != nil {
			return nil, err
		}
	}
	u.admitted = true
	return edited, nil
}

// Settle implements [request.Work].
func (u *Direct) Settle() { u.settle(u.admitted) }
