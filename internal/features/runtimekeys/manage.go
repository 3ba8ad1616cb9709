package runtimekeys

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
)

// Keys makes and changes keys. Its stores are there once the gateway is ready.
type Keys struct {
	core  gateway.Core
	block *runtimekeys.Block // nil: the configuration makes no keys, and those that were made are not valid
	made  *runtimekeys.Keys  // outlive the configuration
}

// Configured returns an error, a 404, if this configuration makes no keys at run time. The methods
// that make and change them want it to be asked first.
func (m *Keys) Configured() error {
	if m.block == nil {
		return apierror.New(apierror.UnknownURL, "this gateway makes no keys at run time: its configuration has no block runtime_keys")
	}
	return nil
}

// Manager is who makes or changes a key.
type Manager struct {
	Name      string // of a key; "operator" for the admin API
	RequestID string
	Tenants   keys.Tenants // whose keys
	Person    *Person      // by the rights of a role; nil: the holder of a key
}

// Person is somebody who makes keys, and how that is known.
type Person struct {
	Owner              runtimekeys.Owner
	Tenant, SecretHash string // of the caller
}

// Edit begins the reading of a request's body. Tenant is that of a new key, "" for a change.
func (m *Keys) Edit(tenant string) *runtimekeys.Edit {
	return runtimekeys.NewEdit(tenant != "", keys.WorkspaceID(tenant), m.core.Requests.Now())
}

// Create makes a key and returns its secret.
func (m *Keys) Create(ctx context.Context, by Manager, tenant string, e *runtimekeys.Edit, idempotency string) (*runtimekeys.Key, string, error) {
	if !by.Tenants.Has(tenant) || !keys.ValidTenant(tenant) {
		return nil, "", apierror.New(apierror.NotFound, "there is no such tenant").WithParam("tenant")
	}
	if by.Person != nil {
		e.Owner = &by.Person.Owner
	}
	key, secret, err := m.made.Create(ctx, m.block, tenant, e, idempotency)
	return m.given(ctx, by, "made", key, secret, err)
}

// given logs a change that gives out a secret. If the person has been ended meanwhile, with the
// keys, this one is deleted too.
func (m *Keys) given(ctx context.Context, by Manager, what string, key *runtimekeys.Key, secret string, err error) (*runtimekeys.Key, string, error) {
	if err = m.changed(by, what, key, err); err != nil || by.Person == nil {
		return key, secret, err
	}
	if _, ended := m.core.Callers.CallerOf(by.Person.Tenant, by.Person.Owner.ID, by.Person.SecretHash); ended != nil {
		return nil, "", errors.Join(ended, m.Delete(ctx, by, key.Hash()))
	}
	return key, secret, nil
}

// Update changes settings of a key.
func (m *Keys) Update(ctx context.Context, by Manager, hash string, e *runtimekeys.Edit) (*runtimekeys.Key, error) {
	key, err := m.made.Update(ctx, m.block, by.Tenants, hash, e)
	return key, m.changed(by, "changed", key, err)
}

// Granted returns what a key may do.
func Granted(m *Keys, key *runtimekeys.Key) *runtimekeys.Grant { return key.Grant(m.block) }

// Rotate gives a key another secret; see [runtimekeys.Keys.Rotate]. The key is then the person's
// who rotates it. The desktops that were opened with the secret before it end with the grace.
func (m *Keys) Rotate(ctx context.Context, by Manager, hash string, grace time.Duration) (*runtimekeys.Key, string, error) {
	var owner *runtimekeys.Owner
	if by.Person != nil {
		owner = &by.Person.Owner
	}
	key, secret, err := m.made.Rotate(ctx, by.Tenants, hash, owner, grace)
	if err == nil {
		m.core.Desktops.RevokeAt(key.Tenant, key.Hash(), m.core.Requests.Now().Add(grace))
	}
	return m.given(ctx, by, "rotated", key, secret, err)
}

// Delete deletes a key.
func (m *Keys) Delete(ctx context.Context, by Manager, hash string) error {
	key, err := m.made.Delete(ctx, by.Tenants, hash)
	return m.changed(by, "deleted", key, err)
}

// Get returns a key and its balances. A change of the key reads them first: after it the answer
// must not fail, for it may have the only good secret. The error is a 404, or the ledger's.
func (m *Keys) Get(ctx context.Context, of keys.Tenants, hash string) (*runtimekeys.Key, []limits.Balance, error) {
	m.catchUp(ctx)
	key, err := m.made.Get(of, hash)
	if err != nil {
		return nil, nil, err
	}
	spent, err := m.Spent(ctx, key)
	if err != nil {
		return nil, nil, err
	}
	return key, spent[0], nil
}

// catchUpTimeout bounds the wait for the changes of other gateways. Then the answer is at most as
// old as the last look at them.
const catchUpTimeout = 300 * time.Millisecond

// catchUp reads what other gateways of a cluster have changed: a client may be sent to another one
// with each request.
func (m *Keys) catchUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, catchUpTimeout)
	defer cancel()
	m.core.CatchUp(ctx)
}

// Find returns the hash that begins with a text; see [runtimekeys.Keys.Match].
func (m *Keys) Find(ctx context.Context, of keys.Tenants, beginning string) (hash string, err error) {
	m.catchUp(ctx)
	return m.made.Match(of, beginning)
}

// List returns one page of keys, newest first.
func (m *Keys) List(ctx context.Context, of keys.Tenants, q runtimekeys.Query) []*runtimekeys.Key {
	m.catchUp(ctx)
	return m.made.List(of, q)
}

// Spent returns the balances of some keys, in the order of [runtimekeys.Record.Usage].
func (m *Keys) Spent(ctx context.Context, of ...*runtimekeys.Key) ([][]limits.Balance, error) {
	all := make([][]limits.Balance, len(of))
	for i, key := range of {
		var err error
		if all[i], err = m.core.Requests.Ledger.Status(ctx, m.core.Requests.Now(), []limits.Subject{key.Usage()}); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// changed logs a change, and ends the desktops of a key that may not open them any more.
func (m *Keys) changed(by Manager, what string, key *runtimekeys.Key, err error) error {
	if err != nil {
		return err
	}
	if !m.made.MayStill(m.block, key.Hash(), key.Tenant, keys.WorkstationsConnect) {
		m.core.Desktops.Revoke(key.Tenant, key.Hash())
	} else if !key.Expires.IsZero() {
		m.core.Desktops.RevokeAt(key.Tenant, key.Hash(), key.Expires)
	}
	deps := m.core.Requests
	deps.Logger.Info("a key was "+what+" at run time", zap.String("hash", key.Hash()), zap.String("name", deps.Redactor.Name(key.Name)),
		zap.String("tenant", key.Tenant), zap.Bool("disabled", key.Disabled), zap.String("by", by.Name), zap.String("request_id", by.RequestID))
	return nil
}

// Info returns what the holder of a key learns of it that only keys made at run time have.
func (m *Keys) Info(hash string) *openrouter.KeyInfo {
	key, err := m.made.Get(keys.EveryTenant(""), hash)
	if err != nil { // deleted meanwhile
		return nil
	}
	return keyInfo(key)
}

// NameOf returns the name of a key that was made at run time; "" of any other.
func (m *Keys) NameOf(tenant, key string) string {
	made, err := m.made.Get(keys.EveryTenant(tenant), key)
	if err != nil {
		return ""
	}
	return made.Name
}
