package fake

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"sync"
)

const (
	// maxCanned bounds the kept scripts: a load test uses a handful of names.
	maxCanned = 64
	// peekBytes is how far into a body the quick path looks for the model.
	peekBytes = 4 << 10
)

// cannedStreams keeps the scripts of "bench", "paced-…" and "burst-…".
type cannedStreams struct {
	mu     sync.RWMutex
	byName map[cannedKey]script
}

type cannedKey struct {
	family family
	model  string
}

// script returns the answer for c; callers do not change its header.
func (k *cannedStreams) script(c *call) script {
	key := cannedKey{c.family, c.model}
	k.mu.RLock()
	s, ok := k.byName[key]
	k.mu.RUnlock()
	if ok {
		return s
	}
	// Made of a call without a prompt: an answer for everybody.
	plain := &call{family: c.family, model: c.model, mode: c.mode, created: c.created, includeUsage: true}
	s = chatScript(plain)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byName == nil {
		k.byName = make(map[cannedKey]script)
	}
	if len(k.byName) < maxCanned {
		k.byName[key] = s
	}
	return s
}

var peeks = sync.Pool{New: func() any { return new([peekBytes]byte) }}

// quick answers canned models without decoding or keeping the body, as long as
// nothing is recorded and the model stands at the beginning: in a load test the
// provider shall cost next to nothing. Everything else goes to next.
func (p *Provider) quick(f family, next http.Handler) http.Handler {
	if p.record {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		buf := peeks.Get().(*[peekBytes]byte)
		defer peeks.Put(buf)
		n, err := io.ReadFull(r.Body, buf[:])
		model := peekModel(buf[:n])
		mode, ok := behaviourOf(model)
		if !ok || !mode.canned {
			r.Body = rejoined{io.MultiReader(bytes.NewReader(buf[:n]), r.Body), r.Body}
			next.ServeHTTP(w, r)
			return
		}
		if err == nil {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return
			}
		}
		s := p.canned.script(&call{family: f, model: model, mode: mode, created: p.now().Unix()})
		p.play(w, r, nil, s)
	})
}

type rejoined struct {
	io.Reader
	io.Closer
}

var modelKey = []byte(`"model"`)

// peekModel finds the first "model" with a string value. Inside a string of the
// prompt the quotes would be escaped, so that a match is a key.
func peekModel(head []byte) string {
	i := bytes.Index(head, modelKey)
	if i < 0 {
		return ""
	}
	rest := bytes.TrimLeft(head[i+len(modelKey):], " \t\r\n:")
	if len(rest) == 0 || rest[0] != '"' {
		return ""
	}
	end := bytes.IndexByte(rest[1:], '"')
	if end < 0 {
		return ""
	}
	var model string
	if json.Unmarshal(rest[:end+2], &model) != nil {
		return ""
	}
	return model
}
