package caddymodule

import (
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

// states holds what outlives a configuration, by data directory: a reload
// finds the State of the configuration before, and the last one that lets go
// of it closes its store.
var states = caddy.NewUsagePool()

// statesMu is held until a State that goes has closed its store: the pool
// forgets it first, and a new one would find the data directory locked.
var statesMu sync.Mutex

type pooledState struct{ *gateway.State }

// Destruct runs when the last reference is gone.
func (s pooledState) Destruct() error { return s.Close() }

func takeState(dir string) (*gateway.State, error) {
	statesMu.Lock()
	defer statesMu.Unlock()
	return loadState(dir)
}

func loadState(dir string) (*gateway.State, error) {
	value, _, err := states.LoadOrNew(dir, func() (caddy.Destructor, error) {
		return pooledState{gateway.NewState(dir, time.Now)}, nil
	})
	if err != nil {
		return nil, err
	}
	return value.(pooledState).State, nil
}

// holdState takes one more reference to this very State, if it is still in the pool.
func holdState(dir string, s *gateway.State) bool {
	statesMu.Lock()
	defer statesMu.Unlock()
	if _, there := states.References(dir); !there {
		return false
	}
	found, err := loadState(dir)
	if err != nil {
		return false
	}
	if found != s { // a new one, that took its place
		_, _ = states.Delete(dir)
	}
	return found == s
}

func releaseState(dir string) error {
	statesMu.Lock()
	defer statesMu.Unlock()
	_, err := states.Delete(dir)
	return err
}
