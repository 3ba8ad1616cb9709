package sqlite

import "sync"

// node is the lock of one name. A call locks the nodes of all its subjects together, always in the
// order of their names, so that two calls cannot deadlock.
type node struct {
	name string
	mu   sync.Mutex
}

// nodes are those of one call. A node may occur twice.
type nodes []*node

// lock sorts and locks the nodes.
func (ns nodes) lock() {
	for i := 1; i < len(ns); i++ {
		for j := i; j > 0 && ns[j].name < ns[j-1].name; j-- {
			ns[j], ns[j-1] = ns[j-1], ns[j]
		}
	}
	for i, n := range ns {
		if i == 0 || n != ns[i-1] {
			n.mu.Lock()
		}
	}
}

func (ns nodes) unlock() {
	for i, n := range ns {
		if i == 0 || n != ns[i-1] {
			n.mu.Unlock()
		}
	}
}
