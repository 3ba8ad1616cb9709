package provider_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// The copy of a short body is used again. No provider may get another caller's: neither if it answers
// at once, before it has read, nor if it answers what it has read.
func TestNoRequestGetsTheBytesOfAnother(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Early") != "" {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
	}))
	defer server.Close()
	real := new(http.Transport)
	defer real.CloseIdleConnections()
	p := newProvider(t, provider.Config{Transport: real, Endpoints: provider.One(server.URL, "")})
	var all sync.WaitGroup
	for caller := range 4 {
		all.Go(func() {
			for i := range 100 {
				want := strings.Repeat(fmt.Sprintf("caller %d, request %d;", caller, i), 1+i%50)
				r := provider.Request{Operation: provider.Chat, Body: newBody(want[:10], want[10:])}
				early := i%10 == 0
				if early {
					r.Header = http.Header{"Early": {"1"}}
				}
				resp, err := p.Endpoints[0].Send(t.Context(), r)
				if err != nil {
					t.Error(err)
					return
				}
				got, err := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if !early && (string(got) != want || err != nil) {
					t.Errorf("got %.100q, want %.100q, %v", got, want, err)
				}
			}
		})
	}
	all.Wait()
}

// A copy may be read as long as its connection has not said that it has written the request, and as
// long as there may be another reader.
func TestTheCopyOfABodyStaysWhileItMayBeRead(t *testing.T) {
	wrote := func(r *http.Request) {
		httptrace.ContextClientTrace(r.Context()).WroteRequest(httptrace.WroteRequestInfo{})
	}
	for _, c := range []struct {
		name   string
		status int
		send   func(r *http.Request)
		stays  bool
	}{
		{"written", 200, wrote, false},
		{"not written", 200, func(*http.Request) {}, true},
		{"written in part", 200, func(r *http.Request) {
			httptrace.ContextClientTrace(r.Context()).WroteRequest(httptrace.WroteRequestInfo{Err: io.ErrClosedPipe})
		}, true},
		{"two readers", 200, func(r *http.Request) { _, _ = r.GetBody(); wrote(r) }, true},
		{"a redirect", 302, wrote, true},
		{"an error, which may repeat it", 400, wrote, true},
	} {
		rt := &transport{}
		rt.answer = func(r *http.Request) (*http.Response, error) {
			c.send(r)
			return &http.Response{StatusCode: c.status, Header: http.Header{}, Body: http.NoBody}, nil
		}
		body := newBody("{}")
		_, _ = newProvider(t, provider.Config{Transport: rt}).Endpoints[0].Send(t.Context(), provider.Request{Operation: provider.Chat, Body: body})
		_, err := body.Open()
		if stays := !errors.Is(err, provider.ErrReleased); stays != c.stays || (body.Kept() > 0) != c.stays {
			t.Errorf("%s: it stays: %v, %d bytes are kept", c.name, stays, body.Kept())
		}
	}
}
