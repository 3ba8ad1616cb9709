package websession

import (
	"maps"
	"slices"
	"sync"
)

// watches are what this gateway does when sessions end.
type watches struct {
	mu   sync.Mutex // guards the following
	next int
	of   map[string]*watched // by the hash of the session
}

// watched is a session with an end that somebody waits for.
type watched struct {
	hash  string
	life  Life
	calls map[int]func()
}

// add keeps f for the end of a session.
func (w *watches) add(hash string, life Life, f func()) (remove func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of == nil {
		w.of = make(map[string]*watched)
	}
	of := w.of[hash]
	if of == nil {
		of = &watched{hash: hash, calls: make(map[int]func())}
		w.of[hash] = of
	}
	w.next++
	number := w.next
	of.life, of.calls[number] = life, f
	return func() { w.remove(of, number) }
}

func (w *watches) remove(of *watched, number int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(of.calls, number)
	if len(of.calls) == 0 && w.of[of.hash] == of {
		delete(w.of, of.hash)
	}
}

// all returns the sessions that are watched.
func (w *watches) all() []watched {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := make([]watched, 0, len(w.of))
	for _, of := range w.of {
		list = append(list, watched{hash: of.hash, life: of.life})
	}
	return list
}

// ended does what waits for the end of sessions.
func (w *watches) ended(hashes ...string) {
	for _, f := range w.take(hashes) {
		f()
	}
}

func (w *watches) take(hashes []string) (calls []func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, hash := range hashes {
		if of := w.of[hash]; of != nil {
			calls = slices.AppendSeq(calls, maps.Values(of.calls))
			delete(w.of, hash)
		}
	}
	return calls
}
