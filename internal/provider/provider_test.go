package provider_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

const credential = "sk-provider-0123456789"

// transport is a RoundTripper that answers with a function and records requests.
type transport struct {
	requests []*http.Request
	bodies   []string
	answer   func(*http.Request) (*http.Response, error)
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	t.requests = append(t.requests, r)
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		t.bodies = append(t.bodies, string(body))
	}
	return t.answer(r)
}

// closeRecorder records whether an answer's body was closed.
type closeRecorder struct {
	io.Reader
	closed bool
}

func (c *closeRecorder) Close() error { c.closed = true; return nil }

func answer(status int, header map[string]string, body string) (*http.Response, *closeRecorder) {
	c := &closeRecorder{Reader: strings.NewReader(body)}
	h := http.Header{}
	for name, value := range header {
		h.Set(name, value)
	}
	return &http.Response{StatusCode: status, Header: h, Body: c, ContentLength: int64(len(body))}, c
}

func always(status int, header map[string]string, body string) func(*http.Request) (*http.Response, error) {
	return func(*http.Request) (*http.Response, error) {
		resp, _ := answer(status, header, body)
		return resp, nil
	}
}

func newProvider(t *testing.T, c provider.Config) *provider.Provider {
	t.Helper()
	if c.Name == "" {
		c.Name = "acme"
	}
	if c.Endpoints == nil {
		c.Endpoints = provider.One("https://api.acme.example/v1/", credential)
	}
	c.UserAgent = "gatehouse"
	p, err := provider.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The upstream header is built from nothing: it has exactly these fields, whatever the client sent.
func TestSendBuildsTheWholeRequestItself(t *testing.T) {
	rt := &transport{answer: always(200, nil, `{}`)}
	p := newProvider(t, provider.Config{Transport: rt})
	for _, stream := range []bool{false, true} {
		resp, err := p.Endpoints[0].Send(t.Context(), provider.Request{Operation: provider.Chat, Body: newBody(`{"a"`, `:1}`), Stream: stream})
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	for i, accept := range []string{"application/json", "text/event-stream"} {
		r := rt.requests[i]
		if r.Method != http.MethodPost || r.URL.String() != "https://api.acme.example/v1/chat/completions" || r.Host != "api.acme.example" {
			t.Errorf("request line: %s %s, Host %q", r.Method, r.URL, r.Host)
		}
		want := http.Header{
			"Content-Type": {"application/json"}, "Accept": {accept}, "Accept-Encoding": {"identity"},
			"Authorization": {"Bearer " + credential}, "User-Agent": {"gatehouse"},
		}
		if !maps.EqualFunc(r.Header, want, slices.Equal) {
			t.Errorf("header %v, want %v", r.Header, want)
		}
		if rt.bodies[i] != `{"a":1}` || r.ContentLength != 7 {
			t.Errorf("body %q of length %d", rt.bodies[i], r.ContentLength)
		}
		again, err := r.GetBody()
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := io.ReadAll(again); string(text) != `{"a":1}` {
			t.Errorf("GetBody reads %q", text)
		}
	}
}

// A change that a transport makes to one request's header must not affect the next.
func TestRequestsDoNotShareTheirHeader(t *testing.T) {
	rt := &transport{answer: always(200, nil, `{}`)}
	p := newProvider(t, provider.Config{Transport: rt})
	for range 2 {
		resp, err := p.Endpoints[0].Send(t.Context(), provider.Request{Operation: provider.Chat, Body: newBody(`{}`), Stream: false})
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		rt.requests[0].Header.Set("Cookie", "a=b")
		rt.requests[0].Header.Del("Authorization")
	}
	if h := rt.requests[1].Header; h.Get("Cookie") != "" || h.Get("Authorization") == "" {
		t.Errorf("the second request's header is %v", h)
	}
}

func TestGetHasNoBodyAndNoContentType(t *testing.T) {
	rt := &transport{answer: always(200, nil, `{"data":[]}`)}
	p := newProvider(t, provider.Config{Transport: rt})
	resp, err := p.Endpoints[0].GetModels(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	r := rt.requests[0]
	if r.Method != http.MethodGet || r.URL.Path != "/v1/models" || r.Body != nil || r.Header.Get("Content-Type") != "" {
		t.Errorf("got %s %s with header %v", r.Method, r.URL.Path, r.Header)
	}
	if r.Header.Get("Authorization") != "Bearer "+credential {
		t.Error("the credential is missing")
	}
}

func TestWithoutCredentialNoAuthorizationIsSent(t *testing.T) {
	rt := &transport{answer: always(200, nil, `{}`)}
	resp, err := newProvider(t, provider.Config{Endpoints: provider.One("https://api.acme.example/v1", ""), Transport: rt}).Endpoints[0].GetModels(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if h, there := rt.requests[0].Header["Authorization"]; there {
		t.Errorf("Authorization is %q", h)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		resp, body := answer(status, map[string]string{"Location": "https://elsewhere.example/"}, "moved")
		rt := &transport{answer: func(*http.Request) (*http.Response, error) { return resp, nil }}
		_, err := newProvider(t, provider.Config{Transport: rt}).Endpoints[0].Send(t.Context(), provider.Request{Operation: provider.Chat, Body: newBody(`{}`), Stream: false})
		if !errors.Is(err, provider.ErrRedirect) {
			t.Errorf("%d: error %v", status, err)
		}
		if len(rt.requests) != 1 {
			t.Errorf("%d: %d requests were sent", status, len(rt.requests))
		}
		if !body.closed {
			t.Errorf("%d: the answer's body was left open", status)
		}
	}
}

func TestACompressedAnswerIsReadPlain(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(`{"id":"chatcmpl-1"}`)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, encoding := range []string{"gzip", "GZIP", "x-gzip"} {
		resp, body := answer(200, map[string]string{"Content-Encoding": encoding}, packed.String())
		rt := &transport{answer: func(*http.Request) (*http.Response, error) { return resp, nil }}
		got, err := newProvider(t, provider.Config{Transport: rt}).Endpoints[0].Send(t.Context(), provider.Request{Operation: provider.Chat, Body: newBody(`{}`), Stream: false})
		if err != nil {
			t.Fatal(err)
		}
		if got.ContentLength != -1 {
			t.Errorf("%s: Content-Length %d is that of the packed body", encoding, got.ContentLength)
		}
		text, err := io.ReadAll(got.Body)
		if err != nil || string(text) != `{"id":"chatcmpl-1"}` {
			t.Errorf("%s: read %q, %v", encoding, text, err)
		}
		if err := got.Body.Close(); err != nil || !body.closed {
			t.Errorf("%s: closing: %v, closed %v", encoding, err, body.closed)
		}
	}
}

// The header of a compressed stream must arrive before its first byte.
func TestACompressedStreamIsNotWaitedFor(t *testing.T) {
	reader, writer := io.Pipe()
	rt := &transport{answer: func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Encoding": {"gzip"}}, Body: reader}, nil
	}}
	resp, err := newProvider(t, provider.Config{Transport: rt}).Endpoints[0].Send(t.Context(), provider.Request{Operation: provider.Chat, Body: newBody(`{}`), Stream: true})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = writer.Write([]byte("not gzip at all"))
		_ = writer.Close()
	}()
	if _, err := io.ReadAll(resp.Body); err == nil || !strings.Contains(err.Error(), "decompressing") {
		t.Errorf("error %v", err)
	}
}

func TestAnUnknownEncodingIsAnError(t *testing.T) {
	resp, body := answer(200, map[string]string{"Content-Encoding": "br"}, "…")
	rt := &transport{answer: func(*http.Request) (*http.Response, error) { return resp, nil }}
	_, err := newProvider(t, provider.Config{Transport: rt}).Endpoints[0].Send(t.Context(), provider.Request{Operation: provider.Chat, Body: newBody(`{}`), Stream: false})
	if err == nil || !strings.Contains(err.Error(), `"br"`) || !body.closed {
		t.Errorf("error %v, body closed %v", err, body.closed)
	}
}

func TestSendHandsTheContextOn(t *testing.T) {
	type key struct{}
	rt := &transport{answer: always(200, nil, `{}`)}
	p := newProvider(t, provider.Config{Transport: rt})
	resp, err := p.Endpoints[0].Send(context.WithValue(t.Context(), key{}, "here"), provider.Request{Operation: provider.Responses, Body: newBody(`{}`), Stream: true})
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if r := rt.requests[0]; r.Context().Value(key{}) != "here" || r.URL.Path != "/v1/responses" {
		t.Errorf("path %q, value %v", r.URL.Path, r.Context().Value(key{}))
	}
}

// Headers are prepared, for as long as the credential in them holds.
func TestAChangedCredentialIsSentAtOnce(t *testing.T) {
	rt := &transport{answer: always(200, nil, `{}`)}
	credential := "first"
	p := newProvider(t, provider.Config{Transport: rt, Endpoints: []provider.EndpointConfig{{
		BaseURL: "https://acme.example/v1", Credential: func() string { return credential },
	}}})
	for i, want := range []string{"Bearer first", "Bearer first", "Bearer second", "", "Bearer second"} {
		credential = strings.TrimPrefix(want, "Bearer ")
		stream := i == 1
		resp, err := p.Endpoints[0].Send(t.Context(), provider.Request{Operation: provider.Chat, Body: newBody(`{}`), Stream: stream})
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		h := rt.requests[i].Header
		if h.Get("Authorization") != want || (h.Get("Accept") == "text/event-stream") != stream {
			t.Errorf("request %d: header %v, want %q", i, h, want)
		}
	}
}
