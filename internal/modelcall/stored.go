package modelcall

import (
	"context"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

// ServeStored answers a request about a response that a provider keeps: it asks the account that made the
// response, for its tenant only. After names an item of it, "" for none. It counts against request
// rates and concurrency as a call does, against no token rate and no budget. An error was not written.
func ServeStored(d *Deps, q *request.Request, op *wire.Operation, api wire.API, path wire.Path, after string) error {
	c := newCall(d, q, op, api)
	c.asked = path.Request()
	c.charge.free = true
	err := serveStored(q.HTTP.Context(), c, after)
	if err != nil {
		c.refused()
	}
	return err
}

// serveStored takes the steps of [call.run] that such a request has.
func serveStored(ctx context.Context, c *call, after string) error {
	if err := c.enter(); err != nil { // 429
		return err
	}
	t, err := accountOf(ctx, c, after)
	if err != nil { // 404 503
		return err
	}
	if err := c.body.Parse([]byte("{}")); err != nil {
		return err
	}
	c.setTarget(t)
	c.to.targets = []*target{t}
	c.guard.Set = c.deps.Guardrails.OfAny(c.req.Caller.Configured()) // what its call named is not known
	err = c.dispatch(ctx)
	if err != nil && c.attempt != nil && c.attempt.upstream.status == http.StatusNotFound && apierror.From(err).Code != apierror.ModelNotCallable {
		return unknownStored(openai.KindResponse, c.asked.Response).WithCause(err)
	}
	return err
}

// accountOf returns the account that keeps the response for the tenant. Another one gets no request.
func accountOf(ctx context.Context, c *call, after string) (*target, error) {
	id, tenant := c.asked.Response, c.req.Caller.Tenant
	accounts := make(map[string]*target)
	var names []string
	for _, p := range c.deps.Providers {
		route := c.op.RouteTo(p)
		if route == nil || p.AccountOf != "" && p.AccountOf != tenant {
			continue
		}
		for _, e := range p.Endpoints {
			t := &target{model: new(catalog.Model), provider: p, endpoint: e, weight: 1, op: c.op, route: route}
			t.id = t.accountName()
			accounts[t.id], names = t, append(names, t.id)
		}
	}
	kind := openai.KindResponse
	at, err := c.deps.Owners.Where(ctx, string(kind), id, tenant, names)
	if at != "" && after != "" { // an item that was listed
		at, err = c.deps.Owners.Where(ctx, string(openai.KindInputItem), openai.InputItemID(id, after), tenant, []string{at})
		kind, id = openai.KindItem, after
	}
	switch {
	case err != nil:
		return nil, apierror.New(apierror.LedgerUnavailable, "who owns the response cannot be looked up now").WithCause(err)
	case at == "":
		return nil, unknownStored(kind, id)
	}
	return accounts[at], nil
}

// unknownStored is the refusal of what another tenant owns and of what does not exist: the same for
// both.
func unknownStored(kind openai.Kind, id string) *apierror.Error {
	return apierror.New(apierror.NotFound, "no %s with id %.*q was found", kind, openai.MaxStateID, id)
}
