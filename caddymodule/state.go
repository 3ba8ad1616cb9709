package caddymodule

import (
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

// states holds the State that several configurations share, by data directory. A reload uses the
// State of the configuration before. The last one to release it closes its store.
var states = caddy.NewUsagePool()

// statesMu is locked until a released State has closed its store. The pool forgets the State first,
// and a new one would find the data directory locked.
var statesMu sync.Mutex

type pooledState struct{ *gateway.State }

// Destruct runs when the last reference is gone.
func (s pooledState) Destruct() error { return s.Close() }

func acquireState(dir string) (*gateway.State, error) {
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

// reacquireState takes one more reference to this State, if it is still in the pool.
func reacquireState(dir string, s *gateway.State) bool {
	statesMu.Lock()
	defer statesMu.Unlock()
	if _, there := states.References(dir); !there {
		return false
	}
	found, err := loadState(dir)
	if err != nil {
		return false
	}
	if found != s { // a new one with the same directory
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
