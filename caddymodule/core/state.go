package core

import (
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

// states has the State of each data directory. A reload finds that of the configuration before, and
// the release of the last reference closes it.
var states = caddy.NewUsagePool()

// statesMu is held until a State has closed its stores: the pool forgets it before, and a new State
// would find the data directory locked.
var statesMu sync.Mutex

type pooledState struct{ *gateway.State }

// Destruct runs when the last reference is released.
func (s pooledState) Destruct() error { return s.Close() }

// acquireState returns the State of a data directory, with a reference to it.
func acquireState(dir string) (*gateway.State, error) {
	statesMu.Lock()
	defer statesMu.Unlock()
	return loadState(dir)
}

// otherCluster reports whether this process is a node of a cluster already, with another data
// directory. It would be two nodes then.
func otherCluster(dir string) (other bool) {
	states.Range(func(key, value any) bool {
		other = key != dir && value.(pooledState).InCluster()
		return !other
	})
	return other
}

// loadState is acquireState with statesMu held.
func loadState(dir string) (*gateway.State, error) {
	value, _, err := states.LoadOrNew(dir, func() (caddy.Destructor, error) {
		return pooledState{gateway.NewState(dir, time.Now)}, nil
	})
	if err != nil {
		return nil, err
	}
	return value.(pooledState).State, nil
}

// reacquireState takes one more reference to s. It returns false if s is closed.
func reacquireState(dir string, s *gateway.State) bool {
	statesMu.Lock()
	defer statesMu.Unlock()
	if _, found := states.References(dir); !found {
		return false
	}
	current, err := loadState(dir)
	if err != nil {
		return false
	}
	if current != s { // s is closed, and the directory has a new one
		_, _ = states.Delete(dir)
	}
	return current == s
}

// releaseState gives back a reference to the State of a data directory.
func releaseState(dir string) error {
	statesMu.Lock()
	defer statesMu.Unlock()
	_, err := states.Delete(dir)
	return err
}
