package faults

import "sync"

// attempts counts the calls of each model, and knows which models behave now
// otherwise than their names say.
type attempts struct {
	mu     sync.Mutex
	counts map[string]int
	become map[string]string
}

// next counts a call of a model and says how it is answered.
func (a *attempts) next(model string) (behaviour, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.counts == nil {
		a.counts = make(map[string]int)
	}
	if _, known := a.counts[model]; known || len(a.counts) < maxGates {
		a.counts[model]++
	}
	name := model
	if as, ok := a.become[model]; ok {
		name = as
	}
	b, ok := behaviourOf(name)
	if b.first > 0 && a.counts[model] > b.first {
		return behaviours["echo"], true
	}
	return b, ok
}

func (a *attempts) count(model string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.counts[model]
}

func (a *attempts) set(model, as string) bool {
	if _, ok := behaviourOf(as); !ok {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.become == nil {
		a.become = make(map[string]string)
	}
	a.become[model] = as
	return true
}

func (a *attempts) reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.counts, a.become = nil, nil
}
