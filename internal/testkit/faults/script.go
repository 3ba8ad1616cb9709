package faults

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strconv"
	"time"
)

// script is an answer as a plan: what to write, what to wait for between the
// writes, and how to end.
type script struct {
	status int
	header http.Header
	steps  []step
	end    ending
	gzip   bool
	length int // Content-Length, -1 for none
}

// step is one write. Waiting comes before it; a wait without data in front of
// the first write holds the status line back.
type step struct {
	gate  string
	pause time.Duration
	data  []byte
}

type ending int

const (
	endClean ending = iota
	endAbort        // close inside the body
	endReset        // TCP reset inside the body
)

// whole is an answer in one piece with its length.
func whole(status int, contentType string, body []byte) script {
	s := script{status: status, header: http.Header{}, length: len(body)}
	s.header.Set("Content-Type", contentType)
	if len(body) > 0 {
		s.steps = []step{{data: body}}
	}
	return s
}

// recorded reads the body, plays the answer and keeps the record of both.
func (p *Provider) recorded(answer func(*http.Request, []byte) script) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var rec *recording
		if !p.Unrecorded {
			rec = p.log.begin(r)
			defer context.AfterFunc(r.Context(), rec.gone)()
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			rec.end(false)
			return
		}
		rec.body(body)
		s := answer(r, body)
		complete := p.play(w, r, rec, s)
		rec.end(complete)
		if complete {
			leave(w, s.end)
		}
	})
}

// play writes s and reports whether it got to the end.
func (p *Provider) play(w http.ResponseWriter, r *http.Request, rec *recording, s script) bool {
	for key, values := range s.header {
		w.Header()[key] = values
	}
	if s.length >= 0 && !s.gzip {
		w.Header().Set("Content-Length", strconv.Itoa(s.length))
	}
	var out io.Writer = w
	flush := http.NewResponseController(w).Flush
	if s.gzip {
		w.Header().Set("Content-Encoding", "gzip")
		zw := gzip.NewWriter(w)
		defer func() { _ = zw.Close() }()
		out = zw
		flush = func() error {
			if err := zw.Flush(); err != nil {
				return err
			}
			return http.NewResponseController(w).Flush()
		}
	}
	started := false
	for _, st := range s.steps {
		if !p.pauseFor(r, st) {
			return false
		}
		if st.data == nil {
			continue
		}
		if !started {
			w.WriteHeader(s.status)
			started = true
		}
		rec.write(s.status)
		if _, err := out.Write(st.data); err != nil {
			return false
		}
		if err := flush(); err != nil {
			return false
		}
	}
	if !started && s.end == endClean {
		w.WriteHeader(s.status)
		rec.write(s.status)
	}
	return true
}

// leave ends the connection the way s says. It does not return unless the end
// is a clean one.
func leave(w http.ResponseWriter, end ending) {
	if end == endClean {
		return
	}
	if end == endReset {
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			if c, ok := conn.(interface{ SetLinger(int) error }); ok {
				_ = c.SetLinger(0) // a close that cannot reset is still a cut
			}
			conn.Close()
			return
		}
	}
	panic(http.ErrAbortHandler)
}

// pauseFor waits as st says; false means that the client left first.
func (p *Provider) pauseFor(r *http.Request, st step) bool {
	if st.gate != "" && !p.gates.take(r.Context(), st.gate) {
		return false
	}
	if st.pause <= 0 {
		return true
	}
	t := time.NewTimer(st.pause)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.Context().Done():
		return false
	}
}
