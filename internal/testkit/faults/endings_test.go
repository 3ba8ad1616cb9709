package faults_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
)

func isReset(err error) bool { return errors.Is(err, syscall.ECONNRESET) }

// open starts an exchange and returns a reader of its body's lines.
func open(t *testing.T, addr, path, body string) (hangUp func() error, lines *bufio.Scanner) {
	t.Helper()
	conn := dial(t, addr, path, body)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	return conn.Close, bufio.NewScanner(resp.Body)
}

// next returns the data of the next event, "" at the end.
func next(lines *bufio.Scanner) string {
	for lines.Scan() {
		if d, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			return d
		}
	}
	return ""
}

func waitFor(t *testing.T, p *faults.Provider, done func(faults.Request) bool) faults.Request {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	list, err := p.Wait(ctx, func(list []faults.Request) bool { return len(list) == 1 && done(list[0]) })
	if err != nil {
		t.Fatalf("%v: %+v", err, list)
	}
	return list[0]
}

func TestStepSendsOneEventForEachToken(t *testing.T) {
	p, addr := start(t)
	_, lines := open(t, addr, chatV1, chatBody("acme/step-a", streaming))
	events := 1
	for d := next(lines); d != "[DONE]"; d = next(lines) {
		if d == "" {
			t.Fatal("the stream ended early")
		}
		// Event n is here and its successor was never written: nobody gave a token.
		if got := p.Requests()[0].Writes; got != events {
			t.Fatalf("%d writes when event %d had arrived", got, events)
		}
		if !p.Step("step-a", 1) {
			t.Fatal("no room for one token")
		}
		events++
	}
	if events != 7 { // role, four pieces, finish, [DONE]
		t.Errorf("%d events", events)
	}
}

func TestStepTokensGivenAheadAreKeptUntilReset(t *testing.T) {
	p, addr := start(t)
	p.Step("step", 100)
	if _, done := chunks(t, post(t, addr, chatV1, chatBody("step", streaming))); !done {
		t.Error("the stream did not run through")
	}
	p.Reset()
	hangUp, lines := open(t, addr, chatV1, chatBody("step", streaming))
	next(lines)
	if err := hangUp(); err != nil {
		t.Fatal(err)
	}
	if r := waitFor(t, p, func(r faults.Request) bool { return r.ClientGone }); r.Writes != 1 {
		t.Errorf("%d writes without a token", r.Writes)
	}
}

func TestTooManyTokensAreRefused(t *testing.T) {
	if p := faults.New(); p.Step("x", 10_000_000) {
		t.Error("room for ten million tokens")
	}
}

func TestStallGoesOnWithAToken(t *testing.T) {
	p, addr := start(t)
	_, lines := open(t, addr, chatV1, chatBody("stall", streaming))
	for range 3 { // role, two pieces
		next(lines)
	}
	if r := p.Requests()[0]; r.Writes != 3 || !r.EndedAt.IsZero() {
		t.Errorf("not stalled: %+v", r)
	}
	p.Step("stall", 1)
	var last string
	for d := next(lines); d != ""; d = next(lines) {
		last = d
	}
	if last != "[DONE]" {
		t.Errorf("ended with %q", last)
	}
}

func TestRecordShowsThatAndWhenTheClientLeft(t *testing.T) {
	for name, body := range map[string]string{
		"in a stream":             chatBody("stall", streaming),
		"before any answer":       chatBody("stall", ""),
		"while headers are late":  chatBody("delayed-headers-600000", ""),
		"between paced events":    chatBody("paced-2-600000", ""),
		"between response events": responsesBody("stall", streaming),
	} {
		t.Run(name, func(t *testing.T) {
			p, addr := start(t)
			path := chatV1
			if strings.Contains(body, `"input"`) {
				path = respV1
			}
			conn := dial(t, addr, path, body)
			r := waitFor(t, p, func(r faults.Request) bool { return !r.BodyReadAt.IsZero() })
			if r.ClientGone {
				t.Error("gone while it is there")
			}
			conn.Close()
			r = waitFor(t, p, func(r faults.Request) bool { return !r.EndedAt.IsZero() })
			if !r.ClientGone || r.GoneAt.IsZero() || r.Complete {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestNothingArrivesWhileHeadersAreDelayed(t *testing.T) {
	p, addr := start(t)
	conn := dial(t, addr, chatV1, chatBody("stall", ""))
	waitFor(t, p, func(r faults.Request) bool { return !r.BodyReadAt.IsZero() })
	if status := p.Requests()[0].Status; status != 0 {
		t.Errorf("status %d before the token", status)
	}
	p.Step("stall", 1)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || resp.StatusCode != 200 {
		t.Errorf("%v, %v", resp, err)
	}
}

func TestDelayedHeadersComeAfterTheirTime(t *testing.T) {
	_, addr := start(t)
	began := time.Now()
	list, done := chunks(t, post(t, addr, chatV1, chatBody("delayed-headers-30", streaming)))
	if took := time.Since(began); took < 30*time.Millisecond || !done || content(list) != helloText {
		t.Errorf("%v, done %v", took, done)
	}
}

func TestPacedEventsAreApart(t *testing.T) {
	_, addr := start(t)
	began := time.Now()
	r := post(t, addr, chatV1, chatBody("paced-5-10", withUsage))
	list, done := chunks(t, r)
	// Eight pauses: role, five pieces, finish, usage, [DONE].
	if took := time.Since(began); took < 80*time.Millisecond || !done || len(list) != 8 || len(r.frames) != 9 {
		t.Errorf("%v, %d events, %d writes", took, len(list), len(r.frames))
	}
}

func TestNoAnswerClosesWithoutAByte(t *testing.T) {
	p, addr := start(t)
	raw, err := io.ReadAll(dial(t, addr, chatV1, chatBody("no-answer", "")))
	if len(raw) != 0 || (err != nil && !isReset(err)) {
		t.Errorf("%q, %v", raw, err)
	}
	if r := waitFor(t, p, func(r faults.Request) bool { return !r.EndedAt.IsZero() }); r.ClientGone || !r.Complete {
		t.Errorf("%+v", r)
	}
}

func TestOwnCutsAreNotTheClients(t *testing.T) {
	for _, model := range []string{"cut-mid-stream", "cut-reset", "cut-clean", "echo"} {
		p, addr := start(t)
		post(t, addr, chatV1, chatBody(model, streaming))
		r := waitFor(t, p, func(r faults.Request) bool { return !r.EndedAt.IsZero() })
		if r.ClientGone || !r.Complete {
			t.Errorf("%s: %+v", model, r)
		}
	}
}
