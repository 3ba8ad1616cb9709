package websession

import (
	"sync"
	"time"
)

// watches are what this gateway does when sessions end.
type watches struct {
	mu   sync.Mutex // guards the following
	next int
	of   map[string]*watched // by the hash of the session
}

// watched is a session with an end that somebody waits for.
type watched struct {
	life    Life
	waiting map[int]waiting
}

// waiting is what waits for the end of a session.
type waiting struct {
	used func() time.Time // by a person; zero: it was not
	end  func()
}

// watch is a session that is polled.
type watch struct {
	hash string
	life Life
	used time.Time // of what waits for its end; zero: it was not
}

// add keeps what waits for the end of a session.
func (w *watches) add(hash string, life Life, x waiting) (remove func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of == nil {
		w.of = make(map[string]*watched)
	}
	of := w.of[hash]
	if of == nil {
		of = &watched{waiting: make(map[int]waiting)}
		w.of[hash] = of
	}
	w.next++
	number := w.next
	of.life, of.waiting[number] = life, x
	return func() { w.remove(hash, of, number) }
}

func (w *watches) remove(hash string, of *watched, number int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(of.waiting, number)
	if len(of.waiting) == 0 && w.of[hash] == of {
		delete(w.of, hash)
	}
}

// some reports whether a session is watched.
func (w *watches) some() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.of) > 0
}

// all returns the sessions that are watched.
func (w *watches) all() []watch {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := make([]watch, 0, len(w.of))
	for hash, of := range w.of {
		x := watch{hash: hash, life: of.life}
		for _, waits := range of.waiting {
			if used := waits.used(); used.After(x.used) {
				x.used = used
			}
		}
		list = append(list, x)
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
			for _, waits := range of.waiting {
				calls = append(calls, waits.end)
			}
			delete(w.of, hash)
		}
	}
	return calls
}
