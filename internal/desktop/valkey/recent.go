package valkey

import (
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

const (
	// keepIssued is how long a token is remembered by the gateway that issued it, for an engine that
	// has lost its last writes.
	keepIssued = 2 * time.Minute
	// maxIssued bounds those tokens.
	maxIssued = 4096
)

// recent are the tokens that this gateway has issued a short while ago.
type recent struct {
	mu     sync.Mutex
	tokens []issuedToken
}

type issuedToken struct {
	at    desktop.ID
	when  time.Time
	token *desktop.Token
}

func (r *recent) add(at desktop.ID, tokens []*desktop.Token, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range tokens {
		old := 0
		for old < len(r.tokens) && (now.Sub(r.tokens[old].when) >= keepIssued || len(r.tokens)-old >= maxIssued) {
			old++
		}
		r.tokens = append(r.tokens[old:], issuedToken{at, now, t})
	}
}

// has reports whether there is a token of a workstation.
func (r *recent) has(at desktop.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.tokens {
		if r.tokens[i].at == at {
			return true
		}
	}
	return false
}

// refresh brings the tokens of a workstation to what they are now, and forgets those that are dead.
func (r *recent) refresh(w *desktop.Workstation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := r.tokens[:0]
	for _, i := range r.tokens {
		if i.at == w.ID {
			now := w.Token(i.token.Hash)
			if now == nil {
				continue
			}
			trace := i.token.Issuer.Trace
			changed := *now
			changed.Issuer.Trace = trace
			i.token = &changed
		}
		kept = append(kept, i)
	}
	clear(r.tokens[len(kept):])
	r.tokens = kept
}

// traced returns a token with the trace of the request for it, if this gateway has issued it.
func (r *recent) traced(t *desktop.Token) *desktop.Token {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.tokens) - 1; i >= 0; i-- {
		if r.tokens[i].token.Hash == t.Hash {
			traced := *t
			traced.Issuer.Trace = r.tokens[i].token.Issuer.Trace
			return &traced
		}
	}
	return t
}

// all returns the tokens by workstation.
func (r *recent) all(now time.Time) map[desktop.ID][]*desktop.Token {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make(map[desktop.ID][]*desktop.Token)
	for _, i := range r.tokens {
		if now.Sub(i.when) < keepIssued {
			all[i.at] = append(all[i.at], i.token)
		}
	}
	return all
}
