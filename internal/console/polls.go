package console

import (
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// polls lets pages that are open at the same time share what they read again: the same page of the same
// key is made once, for all who ask within shareFor. A page that is open alone is made for each poll,
// because it asks less often than that, and so is one that is opened or reloaded.
type polls struct {
	mu      sync.Mutex // guards the following
	made    map[pollKey]*poll
	changes uint64
}

const (
	// shareFor is less than the shortest interval of a live part.
	shareFor = 2 * time.Second
	// maxPolls and maxPollLen bound the memory: a live part of a page is seldom over 100 KiB.
	maxPolls, maxPollLen = 64, 512 << 10
)

// pollKey is all that the answer to a poll depends on, but for the time.
type pollKey struct {
	// key is the key with exactly these rights: one that changes is another one in memory.
	key          *keys.Key
	secret, user string
	address, uri string
	changes      uint64 // an answer from before a change is not given after it
}

// poll is an answer. It is read once done is closed.
type poll struct {
	at     time.Time
	done   chan struct{}
	answer answer
	ok     bool
}

// changed is told before and after each request that may change something.
func (s *polls) changed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes++
}

// find returns the answer to a poll. With first the caller has to make it. Nil: it is not shared.
func (s *polls) find(v *visit) (p *poll, first bool) {
	k := pollKey{key: v.caller.Key, secret: v.caller.SecretHash(), user: v.caller.User, address: ownAddress(v), uri: v.r.URL.RequestURI()}
	s.mu.Lock()
	defer s.mu.Unlock()
	k.changes = s.changes
	if p := s.made[k]; p != nil && v.now.Sub(p.at) < shareFor {
		return p, false
	}
	for old, p := range s.made {
		if v.now.Sub(p.at) >= shareFor {
			delete(s.made, old)
		}
	}
	if len(s.made) >= maxPolls {
		return nil, false
	}
	p = &poll{at: v.now, done: make(chan struct{})}
	if s.made == nil {
		s.made = map[pollKey]*poll{}
	}
	s.made[k] = p
	return p, true
}

// serve answers a poll.
func (s *polls) serve(v *visit) {
	p, first := s.find(v)
	switch {
	case p == nil:
		v.serve()
	case first:
		w := v.w
		func() {
			defer close(p.done) // also if the page panics
			v.w = &p.answer
			v.serve()
			left := v.r.Context().Err() != nil // then parts of the page may say that they could not be read
			p.ok = p.answer.status == http.StatusOK && !left && !p.answer.over && p.answer.body.Len() <= maxPollLen
		}()
		p.answer.copyTo(w)
		if !p.ok {
			p.answer = answer{} // nobody else reads it
		}
	default:
		select {
		case <-p.done:
		case <-v.r.Context().Done():
			return
		}
		if p.ok {
			p.answer.copyTo(v.w)
			return
		}
		v.serve() // who made it has left, or it is a failure
	}
}

// copyTo answers as a was answered.
func (a *answer) copyTo(w http.ResponseWriter) {
	h := w.Header()
	for name, values := range a.header {
		h[name] = slices.Clone(values) // the server may change those of one answer
	}
	h.Set("Content-Length", strconv.Itoa(a.body.Len()))
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body.Bytes()) // the browser may have left
}
