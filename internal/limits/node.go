package limits

import "sync"

// node is what one name is locked by. A call locks the nodes of all its subjects together, always in the order of their
// names, so that two calls never wait for each other.
type node struct {
	name string
	mu   sync.Mutex
}

// nodes are those of one call; a name may stand there twice.
type nodes []*node

// lock sorts and locks them.
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

// unlock follows lock.
func (ns nodes) unlock() {
	for i, n := range ns {
		if i == 0 || n != ns[i-1] {
			n.mu.Unlock()
		}
	}
}
