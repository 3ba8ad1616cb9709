package faults

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	// maxRequests and maxRecordBytes bound the record; the oldest go first.
	maxRequests    = 10_000
	maxRecordBytes = 64 << 20
	// maxRecordedBody is how much of one body is kept. The hash covers all of it.
	maxRecordedBody = 1 << 20
)

// Request is what arrived, and what became of it.
type Request struct {
	ID     int64  `json:"id"`
	Method string `json:"method"`
	Path   string `json:"path"` // as sent, with the query
	Proto  string `json:"proto"`

	Headers [][2]string `json:"headers"` // sorted

	Body       []byte `json:"-"` // the first MiB
	BodyBytes  int64  `json:"body_bytes"`
	BodySHA256 string `json:"body_sha256"` // hex, of the whole body

	Status int `json:"status"` // 0 as long as nothing was sent
	Writes int `json:"writes"` // so far; a stream has one for each event

	ReceivedAt time.Time `json:"received_at"`
	BodyReadAt time.Time `json:"body_read_at,omitzero"`
	EndedAt    time.Time `json:"ended_at,omitzero"`

	// Complete says that the provider did all it meant to, cuts included.
	Complete bool `json:"complete"`
	// ClientGone says that the client left before that, noticed at GoneAt.
	ClientGone bool      `json:"client_gone"`
	GoneAt     time.Time `json:"gone_at,omitzero"`
}

// Header returns the values of a header, compared without regard to case.
func (r *Request) Header(name string) []string {
	var out []string
	name = http.CanonicalHeaderKey(name)
	for _, h := range r.Headers {
		if http.CanonicalHeaderKey(h[0]) == name {
			out = append(out, h[1])
		}
	}
	return out
}

// recorder is the list of requests.
type recorder struct {
	now func() time.Time

	mu      sync.Mutex // guards the following
	serial  int64
	list    []*Request
	bytes   int64
	changed chan struct{} // closed and replaced at every change
}

func newRecorder(now func() time.Time) *recorder {
	return &recorder{now: now, changed: make(chan struct{})}
}

// recording is one entry while its request lives. A nil one does nothing.
type recording struct {
	log   *recorder
	entry *Request
}

func (l *recorder) begin(r *http.Request) *recording {
	entry := &Request{Method: r.Method, Path: r.RequestURI, Proto: r.Proto, Headers: headers(r), ReceivedAt: l.now()}
	rec := &recording{l, entry}
	rec.change(func() {
		l.serial++
		entry.ID = l.serial
		l.list = append(l.list, entry)
		l.trim()
	})
	return rec
}

// trim drops the oldest entries; l.mu is held.
func (l *recorder) trim() {
	for len(l.list) > maxRequests || l.bytes > maxRecordBytes && len(l.list) > 1 {
		l.bytes -= int64(len(l.list[0].Body))
		l.list = slices.Delete(l.list, 0, 1)
	}
}

func (rec *recording) change(f func()) {
	if rec == nil {
		return
	}
	rec.log.mu.Lock()
	defer rec.log.mu.Unlock()
	f()
	close(rec.log.changed)
	rec.log.changed = make(chan struct{})
}

func (rec *recording) body(body []byte) {
	if rec == nil {
		return
	}
	sum := sha256.Sum256(body)
	kept := slices.Clone(body[:min(len(body), maxRecordedBody)])
	rec.change(func() {
		e := rec.entry
		e.Body, e.BodyBytes, e.BodySHA256, e.BodyReadAt = kept, int64(len(body)), hex.EncodeToString(sum[:]), rec.log.now()
		if slices.Contains(rec.log.list, e) { // not trimmed or reset meanwhile
			rec.log.bytes += int64(len(kept))
			rec.log.trim()
		}
	})
}

func (rec *recording) write(status int) {
	rec.change(func() { rec.entry.Status, rec.entry.Writes = status, rec.entry.Writes+1 })
}

func (rec *recording) gone() {
	rec.change(func() {
		if e := rec.entry; e.EndedAt.IsZero() && !e.ClientGone {
			e.ClientGone, e.GoneAt = true, rec.log.now()
		}
	})
}

func (rec *recording) end(complete bool) {
	rec.change(func() {
		e := rec.entry
		e.EndedAt, e.Complete = rec.log.now(), complete
		switch {
		case complete:
			e.ClientGone, e.GoneAt = false, time.Time{}
		case !e.ClientGone:
			e.ClientGone, e.GoneAt = true, e.EndedAt
		}
	})
}

func (l *recorder) all() []Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.copies()
}

func (l *recorder) copies() []Request {
	out := make([]Request, len(l.list))
	for i, e := range l.list {
		out[i] = *e
	}
	return out
}

func (l *recorder) wait(ctx context.Context, done func([]Request) bool) ([]Request, error) {
	for {
		l.mu.Lock()
		list, changed := l.copies(), l.changed
		l.mu.Unlock()
		if done(list) {
			return list, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return list, ctx.Err()
		}
	}
}

func (l *recorder) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list, l.bytes = nil, 0
}

// headers are the headers of a request, sorted. net/http keeps two of them elsewhere.
func headers(r *http.Request) (list [][2]string) {
	all := r.Header.Clone()
	all["Host"] = []string{r.Host}
	if r.TransferEncoding != nil {
		all["Transfer-Encoding"] = r.TransferEncoding
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, value := range all[name] {
			list = append(list, [2]string{name, value})
		}
	}
	return list
}
