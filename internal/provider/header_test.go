package provider_test

import (
	"errors"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

func field(name, value string) provider.HeaderField {
	return provider.HeaderField{Name: name, Value: func() string { return value }}
}

func TestConfiguredFieldsAndQueryAreSent(t *testing.T) {
	rt := &transport{answer: always(200, nil, `{}`)}
	key := "key-1"
	p := newProvider(t, provider.Config{Transport: rt, Endpoints: []provider.EndpointConfig{{
		BaseURL: "https://acme.example/openai",
		Header: []provider.HeaderField{
			{Name: "api-key", Value: func() string { return key }}, field("user-agent", "mine"), field("anthropic-beta", "one"), field("Anthropic-Version", "2023-06-01"),
		},
		Query: url.Values{"api-version": {"2024-10-21 x"}},
	}}})
	send := func(r provider.Request) *http.Request {
		t.Helper()
		r.Operation, r.Body = provider.Chat, newBody("{}")
		resp, err := p.Endpoints[0].Send(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return rt.requests[len(rt.requests)-1]
	}
	want := http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json"}, "Accept-Encoding": {"identity"},
		"Api-Key": {"key-1"}, "User-Agent": {"mine"}, "Anthropic-Beta": {"one"}, "Anthropic-Version": {"2023-06-01"},
	}
	r := send(provider.Request{})
	if got := r.URL.String(); got != "https://acme.example/openai/chat/completions?api-version=2024-10-21+x" {
		t.Errorf("sent to %s", got)
	}
	if !maps.EqualFunc(r.Header, want, slices.Equal) {
		t.Errorf("header %v, want %v", r.Header, want)
	}

	// A call's own fields come first; beta features add up. A changed credential is used at once.
	key = "key-2"
	r = send(provider.Request{Query: "beta=true", Header: http.Header{"Anthropic-Beta": {"two", "three"}, "Anthropic-Version": {"2026-10-21"}}})
	want["Api-Key"], want["Anthropic-Beta"], want["Anthropic-Version"] = []string{"key-2"}, []string{"one,two,three"}, []string{"2026-10-21"}
	if !maps.EqualFunc(r.Header, want, slices.Equal) || r.URL.RawQuery != "beta=true&api-version=2024-10-21+x" {
		t.Errorf("query %s, header %v, want %v", r.URL.RawQuery, r.Header, want)
	}
}

func TestFieldsThatCannotBeSentAreRefused(t *testing.T) {
	for _, c := range []struct {
		dialect string
		fields  []provider.HeaderField
		want    string
	}{
		{"", []provider.HeaderField{field("host", "x")}, "header host: the gateway sets it itself, or it belongs to the connection"},
		{"", []provider.HeaderField{field("Content-Type", "x")}, "header Content-Type: the gateway sets it itself"},
		{"", []provider.HeaderField{field("Transfer-Encoding", "x")}, "header Transfer-Encoding: the gateway sets it"},
		{"", []provider.HeaderField{field("proxy-authorization", "x")}, "header proxy-authorization: the gateway sets it"},
		{"", []provider.HeaderField{field("accept", "x")}, "header accept: the gateway sets it"},
		{"", []provider.HeaderField{field("Authorization", "Bearer x")}, "header Authorization: api_key sets it; give only one of them"},
		{"anthropic", []provider.HeaderField{field("x-api-key", "x")}, "header x-api-key: api_key sets it"},
		{"", []provider.HeaderField{field("a b", "x")}, `header "a b": this is not the name of a header field`},
		{"", []provider.HeaderField{field("X-A", "canary\nx")}, "header X-A: the value has characters that no header field can carry"},
		{"", []provider.HeaderField{field("X-A", "canary ")}, "header X-A: the value has characters"},
		{"", []provider.HeaderField{field("X-A", "1"), field("x-a", "2")}, "header x-a is given twice; join its values with a comma"},
	} {
		endpoints := provider.One("https://acme.example/v1", "key")
		endpoints[0].Header = c.fields
		_, err := provider.New(provider.Config{Name: "acme", Dialect: c.dialect, Transport: &transport{}, Endpoints: endpoints})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: error %v, want %q", c.fields[0].Name, err, c.want)
		}
	}
	for _, dialect := range []string{"openai", "anthropic"} {
		endpoints := provider.One("https://acme.example/v1", "")
		endpoints[0].Header = []provider.HeaderField{field("Authorization", "Basic x"), field("X-Api-Key", "x")}
		if _, err := provider.New(provider.Config{Name: "acme", Dialect: dialect, Transport: &transport{}, Endpoints: endpoints}); err != nil {
			t.Errorf("%s without an api_key: %v", dialect, err)
		}
	}
}

func TestSeveralEndpointsHaveNames(t *testing.T) {
	endpoint := func(name, base string) provider.EndpointConfig {
		return provider.EndpointConfig{Name: name, BaseURL: base}
	}
	for want, endpoints := range map[string][]provider.EndpointConfig{
		`endpoint name ""`:                      {endpoint("a", "https://a.example/v1"), endpoint("", "https://b.example/v1")},
		`endpoint name "A b"`:                   {endpoint("A b", "https://a.example/v1")},
		`endpoint "a" is given twice`:           {endpoint("a", "https://a.example/v1"), endpoint("a", "https://b.example/v1")},
		`endpoint "b": base_url "b.example"`:    {endpoint("a", "https://a.example/v1"), endpoint("b", "b.example")},
		"the endpoints have different dialects": {endpoint("a", "https://a.example/v1"), endpoint("b", "https://openrouter.ai/api/v1")},
	} {
		if _, err := provider.New(provider.Config{Name: "acme", Transport: &transport{}, Endpoints: endpoints}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestAnthropicsBaseURLMayLackTheVersion(t *testing.T) {
	for _, c := range []struct{ dialect, base, want string }{
		{"", "https://api.anthropic.com", "https://api.anthropic.com/v1/messages"},
		{"anthropic", "https://proxy.example/", "https://proxy.example/v1/messages"},
		{"anthropic", "https://proxy.example/anthropic", "https://proxy.example/anthropic/messages"},
	} {
		rt := &transport{answer: always(200, nil, `{}`)}
		p := newProvider(t, provider.Config{Dialect: c.dialect, Transport: rt, Endpoints: provider.One(c.base, "key")})
		resp, err := p.Endpoints[0].Send(t.Context(), provider.Request{Operation: provider.Messages, Body: newBody("{}")})
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if r := rt.requests[0]; r.URL.String() != c.want || r.Header.Get("X-Api-Key") != "key" || r.Header.Get("Authorization") != "" {
			t.Errorf("%s: sent to %s with %v", c.base, r.URL, r.Header)
		}
	}
}

func TestTimeoutsOfAModelTakeTheFirstThatMatch(t *testing.T) {
	p := newProvider(t, provider.Config{
		Transport: &transport{},
		Timeouts:  provider.Timeouts{Connect: 1, FirstByte: 2, Idle: 3},
		ModelTimeouts: []provider.ModelTimeouts{
			{Models: pattern.List{"o3", "deep-*"}, Timeouts: provider.Timeouts{FirstByte: 20}},
			{Models: pattern.List{"deep-*"}, Timeouts: provider.Timeouts{FirstByte: 30, Call: 40}},
		},
	})
	for model, want := range map[string]provider.Timeouts{
		"small":  {Connect: 1, FirstByte: 2, Idle: 3},
		"o3":     {Connect: 1, FirstByte: 20, Idle: 3},
		"deep-x": {Connect: 1, FirstByte: 20, Idle: 3, Call: 40},
	} {
		if got := p.TimeoutsOf(model); got != want {
			t.Errorf("%s: %+v, want %+v", model, got, want)
		}
	}
}

func TestAConnectionThatIsNotOpenInTimeHasItsOwnError(t *testing.T) {
	late := &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}
	for _, c := range []struct {
		err  error
		want bool
	}{{late, true}, {&net.OpError{Op: "dial", Err: errors.New("refused")}, false}} {
		rt := &transport{answer: func(*http.Request) (*http.Response, error) { return nil, c.err }}
		p := newProvider(t, provider.Config{Transport: rt})
		_, err := p.Endpoints[0].Send(t.Context(), provider.Request{Operation: provider.Chat, Body: newBody("{}")})
		if !errors.Is(err, c.err) || errors.Is(err, provider.ErrConnectTimeout) != c.want {
			t.Errorf("%v: %v", c.err, err)
		}
	}
	// A connection that does not get through its TLS handshake is not open. One that is open and silent
	// has no such error.
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	for scheme, want := range map[string]bool{"https": true, "http": false} {
		p := newProvider(t, provider.Config{
			Transport: &http.Transport{TLSHandshakeTimeout: time.Millisecond, ResponseHeaderTimeout: time.Millisecond},
			Endpoints: provider.One(scheme+"://"+server.Addr().String()+"/v1", ""),
		})
		_, err = p.Endpoints[0].Send(t.Context(), provider.Request{Operation: provider.Chat, Body: newBody("{}")})
		if err == nil || errors.Is(err, provider.ErrConnectTimeout) != want {
			t.Errorf("%s to a silent provider: %v", scheme, err)
		}
	}
}
