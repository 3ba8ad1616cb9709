package core

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"sync"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/guest"
)

// credentials has the credential of each account of a cloud. A reload finds those of the
// configuration before, so that it loses no token; the release of the last reference ends their
// work in the background.
var credentials = caddy.NewUsagePool()

type pooledCredential struct {
	guest.Credential
	end context.CancelFunc
}

// Destruct runs when the last reference is released.
func (c pooledCredential) Destruct() error {
	c.end()
	return nil
}

// heldCredentials are the references of one configuration.
type heldCredentials struct {
	mu   sync.Mutex // guards the following
	keys []string
}

// get returns the credential of an account, with a reference to it. Equal accounts have one
// credential.
func (h *heldCredentials) get(account any, make guest.NewCredential) (guest.Credential, error) {
	text, err := json.Marshal(account)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(text) // a secret may be written in it
	key := string(hash[:])
	value, _, err := credentials.LoadOrNew(key, func() (caddy.Destructor, error) {
		ctx, end := context.WithCancel(context.Background())
		made, err := make(ctx)
		if err != nil {
			end()
			return nil, err
		}
		return pooledCredential{made, end}, nil
	})
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keys = append(h.keys, key)
	return value.(pooledCredential).Credential, nil
}

// release gives the references back. It may be called again.
func (h *heldCredentials) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, key := range h.keys {
		_, _ = credentials.Delete(key) // Destruct returns no error
	}
	h.keys = nil
}
