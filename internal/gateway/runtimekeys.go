package gateway

import (
	"context"
	"slices"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
)

// RuntimeKeys is the part of a gateway that makes and changes keys at run time.
type RuntimeKeys struct{ gateway *Gateway }

// RuntimeKeysOf returns the part of g that makes and changes keys at run time. Its stores are there
// once Ready has returned.
func RuntimeKeysOf(g *Gateway) RuntimeKeys { return RuntimeKeys{g} }

// ConfiguredKeys returns the keys of a configuration that belong to tenants.
func ConfiguredKeys(g *Gateway, of keys.Tenants) []*keys.Key { return g.keyring.Of(of) }

// ConfiguredKey returns the key of a configuration that has a name, if it belongs to one of the tenants.
// The error is a 404.
func ConfiguredKey(g *Gateway, of keys.Tenants, name string) (*keys.Key, error) {
	found, ok := g.keyring.Named(name)
	if !ok || !of.Has(found.Tenant) {
		return nil, apierror.New(apierror.NotFound, "the configuration has no key of this name").WithParam("hash")
	}
	return found.Key, nil
}

// Configured returns an error, a 404, if this configuration makes no keys at run time. The methods that
// make and change them want it to be asked first.
func (m RuntimeKeys) Configured() error {
	if m.gateway.runtime == nil {
		return apierror.New(apierror.UnknownURL, "this gateway makes no keys at run time: its configuration has no block runtime_keys")
	}
	return nil
}

// Manager is who makes or changes a key.
type Manager struct {
	Name      string // of a key; "operator" for the admin API
	RequestID string
	Tenants   keys.Tenants // whose keys
}

// Edit begins the reading of a request's body. Tenant is that of a new key, "" for a change.
func (m RuntimeKeys) Edit(tenant string) *runtimekeys.Edit {
	return runtimekeys.NewEdit(tenant != "", keys.WorkspaceID(tenant), m.gateway.now())
}

// Create makes a key and returns its secret.
func (m RuntimeKeys) Create(ctx context.Context, by Manager, tenant string, e *runtimekeys.Edit, idempotency string) (*runtimekeys.Key, string, error) {
	if !by.Tenants.Has(tenant) || !keys.ValidTenant(tenant) {
		return nil, "", apierror.New(apierror.NotFound, "there is no such tenant").WithParam("tenant")
	}
	key, secret, err := m.keys().Create(ctx, m.gateway.runtime, tenant, e, idempotency)
	return key, secret, m.changed(by, "made", key, err)
}

// Update changes settings of a key.
func (m RuntimeKeys) Update(ctx context.Context, by Manager, hash string, e *runtimekeys.Edit) (*runtimekeys.Key, error) {
	key, err := m.keys().Update(ctx, m.gateway.runtime, by.Tenants, hash, e)
	return key, m.changed(by, "changed", key, err)
}

// KeyWarnings says what is wrong with a key that works as its manager asked: a limit of money that lets no call
// through. Each is a sentence without a full stop.
func KeyWarnings(m RuntimeKeys, key *runtimekeys.Key) []string {
	grant := key.Grant(m.gateway.runtime)
	if grant.Limits == nil || !grant.Limits.HardMoney() || grant.Limits.Unpriced {
		return nil
	}
	models := m.gateway.models.known(grant.Key)
	priced := slices.ContainsFunc(models, func(model catalog.Model) bool { return model.Price != nil })
	if priced || len(models) == 0 {
		return nil
	}
	return []string{"it has a hard limit of money, and no model that it may call has a known price, so its calls are refused (402): add prices in a catalog, or set unpriced allow in runtime_keys"}
}

// Rotate gives a key another secret; see [runtimekeys.Keys.Rotate]. The desktops that were opened with
// the one before it end with the grace.
func (m RuntimeKeys) Rotate(ctx context.Context, by Manager, hash string, grace time.Duration) (*runtimekeys.Key, string, error) {
	key, secret, err := m.keys().Rotate(ctx, by.Tenants, hash, grace)
	if err == nil {
		m.gateway.state.Workstations.RevokeAt(key.Tenant, key.Hash(), m.gateway.now().Add(grace))
	}
	return key, secret, m.changed(by, "rotated", key, err)
}

// Delete deletes a key.
func (m RuntimeKeys) Delete(ctx context.Context, by Manager, hash string) error {
	key, err := m.keys().Delete(ctx, by.Tenants, hash)
	return m.changed(by, "deleted", key, err)
}

// Get returns a key and its balances. A change of the key reads them first: after it the answer
// must not fail, for it may have the only good secret. The error is a 404, or the ledger's.
func (m RuntimeKeys) Get(ctx context.Context, of keys.Tenants, hash string) (*runtimekeys.Key, []limits.Balance, error) {
	m.catchUp(ctx)
	key, err := m.keys().Get(of, hash)
	if err != nil {
		return nil, nil, err
	}
	spent, err := m.Spent(ctx, key)
	if err != nil {
		return nil, nil, err
	}
	return key, spent[0], nil
}

// catchUpTimeout bounds the wait for the changes of other gateways. Then the answer is at most as old as
// the last look at them.
const catchUpTimeout = 300 * time.Millisecond

// catchUp reads what other gateways of a cluster have changed: a client may be sent to another one
// with each request.
func (m RuntimeKeys) catchUp(ctx context.Context) {
	if shared := m.gateway.state.stores.inCluster(); shared != nil {
		ctx, cancel := context.WithTimeout(ctx, catchUpTimeout)
		defer cancel()
		shared.CatchUp(ctx)
	}
}

// Find returns the hash that begins with a text; see [runtimekeys.Keys.Match].
func (m RuntimeKeys) Find(ctx context.Context, of keys.Tenants, beginning string) (hash string, err error) {
	m.catchUp(ctx)
	return m.keys().Match(of, beginning)
}

// List returns one page of keys, newest first.
func (m RuntimeKeys) List(ctx context.Context, of keys.Tenants, q runtimekeys.Query) []*runtimekeys.Key {
	m.catchUp(ctx)
	return m.keys().List(of, q)
}

// Spent returns the balances of some keys, in the order of [runtimekeys.Record.Usage].
func (m RuntimeKeys) Spent(ctx context.Context, of ...*runtimekeys.Key) ([][]limits.Balance, error) {
	all := make([][]limits.Balance, len(of))
	for i, key := range of {
		var err error
		if all[i], err = m.gateway.requests.Ledger.Status(ctx, m.gateway.now(), []limits.Subject{key.Usage()}); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (m RuntimeKeys) keys() *runtimekeys.Keys { return m.gateway.state.runtimeKeys }

// changed logs a change, and ends the desktops of a key that may not open them any more.
func (m RuntimeKeys) changed(by Manager, what string, key *runtimekeys.Key, err error) error {
	if err != nil {
		return err
	}
	g := m.gateway
	if !m.keys().MayStill(g.runtime, key.Hash(), key.Tenant, keys.WorkstationsConnect) {
		g.state.Workstations.Revoke(key.Tenant, key.Hash())
	} else if !key.Expires.IsZero() {
		g.state.Workstations.RevokeAt(key.Tenant, key.Hash(), key.Expires)
	}
	g.logger.Info("a key was "+what+" at run time", zap.String("hash", key.Hash()), zap.String("name", g.requests.Redactor.Name(key.Name)),
		zap.String("tenant", key.Tenant), zap.Bool("disabled", key.Disabled), zap.String("by", by.Name), zap.String("request_id", by.RequestID))
	return nil
}

// StillMayConnect refuses a caller whose key or secret is not good any more: it was changed at run time
// after the caller had been authenticated. What was issued meanwhile ends. The error is a 401.
func (m RuntimeKeys) StillMayConnect(caller *request.Caller) error {
	g := m.gateway
	if caller.Limits == nil {
		return nil
	}
	now, err := Callers{g}.CallerOf(caller.Tenant, caller.Name, caller.SecretHash())
	if err != nil || !now.Has(keys.WorkstationsConnect) {
		g.state.Workstations.Revoke(caller.Tenant, caller.Name)
		return errInvalidKey()
	}
	if end := now.Expires; !end.IsZero() {
		g.state.Workstations.RevokeAt(caller.Tenant, caller.Name, end)
	}
	return nil
}

// Of returns a caller's key if it was made at run time, nil if the configuration has it.
func (m RuntimeKeys) Of(caller *request.Caller) *runtimekeys.Key {
	if caller.Limits == nil {
		return nil
	}
	key, err := m.keys().Get(keys.EveryTenant(""), caller.Name)
	if err != nil { // deleted meanwhile
		return nil
	}
	return key
}

// mayConnectWith returns a function that reports whether a key, of the configuration or made at run time,
// may still open the desktops for which it has VNC addresses, and the user who has asked for them the key.
func mayConnectWith(g *Gateway) func(desktop.Issuer) bool {
	configured := mayConnect(g.keyring, g.now)
	return func(by desktop.Issuer) bool {
		for _, f := range g.features {
			if f.MayUse != nil && !f.MayUse(by.User, by.Key) {
				return false
			}
		}
		return configured(by) || g.state.runtimeKeys.MayStill(g.runtime, by.KeyHash, by.Tenant, scopeOf(by))
	}
}
