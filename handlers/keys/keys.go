package keys

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/features/runtimekeys"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
)

// listKeys lists the keys of the manager's tenant: those that were made at run time, newest first,
// or those of the configuration.
func listKeys(x *handlers.Request) error {
	q, configured, err := keysQuery(x, "include_disabled", "offset", "search", "workspace_id")
	if err != nil {
		return err
	}
	if configured {
		keyring, err := handlers.Part[*keys.Keyring](x)
		if err != nil {
			return err
		}
		return x.Reply(http.StatusOK, report.ConfiguredKeys(keyring.Of(x.Req.Caller.Tenants(q.Get("tenant")))))
	}
	return listMadeKeys(x, q)
}

// keysQuery reads the query of a route that shows keys. Configured reports whether those of the
// configuration are asked for.
func keysQuery(x *handlers.Request, also ...string) (q url.Values, configured bool, err error) {
	if q, err = x.StrictQuery(append(also, "source", "tenant")...); err != nil {
		return nil, false, err
	}
	switch q.Get("source") {
	case "", "runtime":
		return q, false, nil
	case "configuration":
		return q, true, nil
	}
	return nil, false, apierror.New(apierror.InvalidValue, "source: want runtime or configuration").WithParam("source")
}

func listMadeKeys(x *handlers.Request, q url.Values) error {
	made, err := makes(x)
	if err != nil {
		return err
	}
	query, err := runtimekeys.KeyQuery(q)
	if err != nil {
		return err
	}
	of := x.Req.Caller.Tenants(q.Get("tenant"))
	if id := q.Get("workspace_id"); id != "" {
		if !of.Has(x.Req.Caller.Tenant) || !strings.EqualFold(id, keys.WorkspaceID(x.Req.Caller.Tenant)) {
			of = keys.Tenants{} // another tenant's: nothing is there
		} else {
			of = x.Req.Caller.Tenants(x.Req.Caller.Tenant)
		}
	}
	page := made.List(x.HTTP.Context(), of, query)
	spent, err := made.Spent(x.HTTP.Context(), page...)
	if err != nil {
		return report.LedgerFailure(x.HTTP.Context(), err)
	}
	return x.Succeed(runtimekeys.MadeKeys(page, spent), nil)
}

// showKey shows one key: by its hash one that was made at run time, or by its name one of the
// configuration.
func showKey(x *handlers.Request) error {
	q, configured, err := keysQuery(x)
	if err != nil {
		return err
	}
	of := x.Req.Caller.Tenants(q.Get("tenant"))
	if configured {
		keyring, err := handlers.Part[*keys.Keyring](x)
		if err != nil {
			return err
		}
		found, ok := keyring.Named(x.Name)
		if !ok || !of.Has(found.Tenant) {
			return apierror.New(apierror.NotFound, "the configuration has no key of this name").WithParam("hash")
		}
		return x.Reply(http.StatusOK, report.OneConfiguredKey(found.Key))
	}
	made, err := makes(x)
	if err != nil {
		return err
	}
	key, spent, err := made.Get(x.HTTP.Context(), of, x.Name)
	if err != nil {
		return report.LedgerFailure(x.HTTP.Context(), err)
	}
	return x.Succeed(runtimekeys.MadeKey(key, "", spent), nil)
}

// createKey makes a key: 201 with its secret, which is never shown again.
func createKey(x *handlers.Request) error {
	made, by, q, err := managing(x)
	if err != nil {
		return err
	}
	tenant := x.Req.Caller.Tenant
	if asked := q.Get("tenant"); asked != "" {
		tenant = asked
	}
	edit := made.Edit(tenant)
	if err := x.ReadOptions(edit.Member); err != nil {
		return err
	}
	ctx := x.HTTP.Context()
	idempotency := x.HTTP.Header.Get("Idempotency-Key")
	if len(idempotency) > maxIdempotencyKey {
		return apierror.New(apierror.InvalidValue, "Idempotency-Key: at most %d bytes", maxIdempotencyKey).WithParam("Idempotency-Key")
	}
	key, secret, err := made.Create(ctx, by, tenant, edit, idempotency)
	if err != nil {
		return err
	}
	left, grant := ctx.Err(), runtimekeys.Granted(made, key)
	warnings := modelcall.BudgetWarnings(key.Subject(), grant.Limits, x.Gateway.Models().Known(grant.Key))
	if left != nil || !x.Deliver(http.StatusCreated, runtimekeys.MadeKey(key, secret, nil, warnings...)) {
		_ = made.Delete(ctx, by, key.Hash()) // nobody knows the secret
	}
	if left != nil {
		return apierror.New(apierror.ClientGone, "the client left").WithCause(left)
	}
	return nil
}

// maxIdempotencyKey bounds an Idempotency-Key, in bytes.
const maxIdempotencyKey = 256

// updateKey changes settings of a key.
func updateKey(x *handlers.Request) error {
	made, by, _, err := managing(x)
	if err != nil {
		return err
	}
	edit := made.Edit("")
	if err := x.ReadOptions(edit.Member); err != nil {
		return err
	}
	_, spent, err := made.Get(x.HTTP.Context(), by.Tenants, x.Name)
	if err != nil {
		return report.LedgerFailure(x.HTTP.Context(), err)
	}
	key, err := made.Update(x.HTTP.Context(), by, x.Name, edit)
	if err != nil {
		return err
	}
	grant := runtimekeys.Granted(made, key)
	warnings := modelcall.BudgetWarnings(key.Subject(), grant.Limits, x.Gateway.Models().Known(grant.Key))
	return x.Succeed(runtimekeys.MadeKey(key, "", spent, warnings...), nil)
}

// deleteKey deletes a key; what it has spent stays.
func deleteKey(x *handlers.Request) error {
	made, by, _, err := managing(x)
	if err != nil {
		return err
	}
	if err := made.Delete(x.HTTP.Context(), by, x.Name); err != nil {
		return err
	}
	return x.Succeed(runtimekeys.DeletedKey(), nil)
}

// rotateKey gives a key another secret: 201 with it. Those before it stay good for the grace of the
// request.
func rotateKey(x *handlers.Request) error {
	made, by, _, err := managing(x)
	if err != nil {
		return err
	}
	var grace runtimekeys.Grace
	if err := x.ReadOptions(grace.Member); err != nil {
		return err
	}
	_, spent, err := made.Get(x.HTTP.Context(), by.Tenants, x.Name)
	if err != nil {
		return report.LedgerFailure(x.HTTP.Context(), err)
	}
	key, secret, err := made.Rotate(x.HTTP.Context(), by, x.Name, grace.Duration)
	if err != nil {
		return err
	}
	x.Deliver(http.StatusCreated, runtimekeys.MadeKey(key, secret, spent))
	return nil
}

// makes returns what makes keys. The error is a 404 if the configuration has none.
func makes(x *handlers.Request) (*runtimekeys.Keys, error) {
	made, err := handlers.Part[*runtimekeys.Keys](x)
	if err == nil {
		err = made.Configured()
	}
	return made, err
}

// managing returns what a request that manages keys needs.
func managing(x *handlers.Request) (made *runtimekeys.Keys, by runtimekeys.Manager, q url.Values, err error) {
	if made, err = makes(x); err != nil {
		return made, by, nil, err
	}
	if q, err = x.StrictQuery("tenant"); err != nil {
		return made, by, nil, err
	}
	caller := &x.Req.Caller
	by = runtimekeys.Manager{Name: caller.Name, RequestID: x.IDs.RequestID, Tenants: caller.Tenants(q.Get("tenant"))}
	if caller.Limits != nil && caller.Limits.Holder != nil {
		by.Person = &runtimekeys.Person{Tenant: caller.Tenant, SecretHash: caller.SecretHash()}
		by.Person.Owner.ID, by.Person.Owner.Name = caller.Name, caller.Limits.Holder.Name
	}
	return made, by, q, nil
}
