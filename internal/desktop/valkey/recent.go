package valkey

import (
	"maps"
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
	tokens map[desktop.Hash]issuedToken
}

type issuedToken struct {
	at    desktop.ID
	token *desktop.Token
}

// add remembers new tokens. Beyond the bound the oldest are forgotten.
func (r *recent) add(at desktop.ID, tokens []*desktop.Token) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range tokens {
		if len(r.tokens) >= maxIssued {
			r.dropOldest()
		}
		r.tokens[t.Hash] = issuedToken{at, t}
	}
}

func (r *recent) dropOldest() {
	var oldest desktop.Hash
	var issued time.Time
	for hash, i := range r.tokens {
		if issued.IsZero() || i.token.Issued.Before(issued) {
			oldest, issued = hash, i.token.Issued
		}
	}
	delete(r.tokens, oldest)
}

// traced returns a token with the trace of the request for it, if this gateway has issued it.
func (r *recent) traced(t *desktop.Token) *desktop.Token {
	r.mu.Lock()
	defer r.mu.Unlock()
	traced := *t
	if issued, ok := r.tokens[t.Hash]; ok {
		traced.Issuer.Trace = issued.token.Issuer.Trace
	}
	return &traced
}

// refresh forgets the tokens of a workstation that are dead, and notes the end of others.
func (r *recent) refresh(w *desktop.Workstation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for hash, issued := range r.tokens {
		if issued.at != w.ID {
			continue
		}
		if now := w.Token(hash); now == nil {
			delete(r.tokens, hash)
		} else {
			changed := *now
			changed.Issuer.Trace = issued.token.Issuer.Trace
			r.tokens[hash] = issuedToken{w.ID, &changed}
		}
	}
}

// all returns the tokens and where they lead, and forgets those that are too old.
func (r *recent) all(now time.Time) map[*desktop.Token]desktop.ID {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.tokens, func(_ desktop.Hash, i issuedToken) bool { return now.Sub(i.token.Issued) >= keepIssued })
	all := make(map[*desktop.Token]desktop.ID, len(r.tokens))
	for _, i := range r.tokens {
		all[i.token] = i.at
	}
	return all
}
