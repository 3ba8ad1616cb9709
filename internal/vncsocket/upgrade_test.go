package vncsocket

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/vncrelaytest"
)

// upgrade is the request of a page at https://console.test.
func upgrade() *http.Request {
	r := httptest.NewRequest(http.MethodGet, "https://console.test/console/socket", nil)
	r.Header = http.Header{
		"Origin": {"https://console.test"}, "Connection": {"keep-alive, Upgrade"}, "Upgrade": {"websocket"},
		"Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="}, "Sec-Websocket-Protocol": {"other, " + Protocol},
	}
	return r
}

// A recorder's connection cannot be had, so this is how far a request gets that may connect.
const upgraded = http.StatusSwitchingProtocols

// A browser sends the cookie from the pages of any site: the Origin decides.
func TestOnlyPagesOfThisOriginMayConnect(t *testing.T) {
	o := Options{Gateway: vncrelaytest.New(t, options{}), Origins: []string{"https://Console.example.com:443/"}}
	for name, c := range map[string]struct {
		change func(*http.Request)
		want   bool
	}{
		"its own":                  {func(*http.Request) {}, true},
		"in capitals":              {func(r *http.Request) { r.Header.Set("Origin", "HTTPS://CONSOLE.test") }, true},
		"the default port in Host": {func(r *http.Request) { r.Host = "console.test:443" }, true},
		"one that is configured":   {func(r *http.Request) { r.Header.Set("Origin", "https://console.example.com") }, true},
		"http on loopback": {func(r *http.Request) {
			r.TLS, r.Host = nil, "localhost:8080"
			r.Header.Set("Origin", "http://localhost:8080")
		}, true},
		"none":                 {func(r *http.Request) { r.Header.Del("Origin") }, false},
		"an empty one":         {func(r *http.Request) { r.Header.Set("Origin", "") }, false},
		"null":                 {func(r *http.Request) { r.Header.Set("Origin", "null") }, false},
		"two":                  {func(r *http.Request) { r.Header.Add("Origin", "https://console.test") }, false},
		"another host":         {func(r *http.Request) { r.Header.Set("Origin", "https://evil.test") }, false},
		"a longer host":        {func(r *http.Request) { r.Header.Set("Origin", "https://console.test.evil.test") }, false},
		"a host before it":     {func(r *http.Request) { r.Header.Set("Origin", "https://evil.console.test") }, false},
		"another port":         {func(r *http.Request) { r.Header.Set("Origin", "https://console.test:8443") }, false},
		"another scheme":       {func(r *http.Request) { r.Header.Set("Origin", "http://console.test") }, false},
		"http where it is TLS": {func(r *http.Request) { r.TLS = nil }, false},
		"a configured one by http": {func(r *http.Request) {
			r.Header.Set("Origin", "http://console.example.com")
		}, false},
	} {
		r := upgrade()
		r.TLS = new(tls.ConnectionState)
		c.change(r)
		if got := OwnPage(r, o.Origins); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		recorder := httptest.NewRecorder()
		Serve(recorder, r, o)
		want := http.StatusForbidden
		if c.want {
			want = upgraded
		}
		if recorder.Code != want {
			t.Errorf("%s: %d %s", name, recorder.Code, recorder.Body)
		}
	}
}

func TestWhatIsNoUpgradeIsRefused(t *testing.T) {
	g := vncrelaytest.New(t, options{})
	for name, c := range map[string]struct {
		change func(*http.Request, *Options)
		want   int
		text   string
	}{
		"POST":                        {func(r *http.Request, _ *Options) { r.Method = http.MethodPost }, 405, "Only GET"},
		"HTTP/1.0":                    {func(r *http.Request, _ *Options) { r.ProtoMinor = 0 }, 426, "HTTP/1.1"},
		"GET over HTTP/2":             {func(r *http.Request, _ *Options) { r.ProtoMajor, r.ProtoMinor = 2, 0 }, 426, "HTTP/1.1"},
		"no upgrade":                  {func(r *http.Request, _ *Options) { r.Header.Del("Upgrade") }, 426, "Upgrade"},
		"no subprotocol":              {func(r *http.Request, _ *Options) { r.Header.Del("Sec-WebSocket-Protocol") }, 400, Protocol},
		"another subprotocol":         {func(r *http.Request, _ *Options) { r.Header.Set("Sec-WebSocket-Protocol", "binary") }, 400, Protocol},
		"the subprotocol in capitals": {func(r *http.Request, _ *Options) { r.Header.Set("Sec-WebSocket-Protocol", strings.ToUpper(Protocol)) }, 400, Protocol},
		"an old version":              {func(r *http.Request, _ *Options) { r.Header.Set("Sec-WebSocket-Version", "8") }, 400, "version"},
		"no key":                      {func(r *http.Request, _ *Options) { r.Header.Del("Sec-WebSocket-Key") }, 400, "Key"},
		"a gateway that is not ready": {func(_ *http.Request, o *Options) { o.Gateway = nil }, 503, "not ready"},
	} {
		r, recorder := upgrade(), httptest.NewRecorder()
		r.TLS = new(tls.ConnectionState)
		o := Options{Gateway: g}
		c.change(r, &o)
		Serve(recorder, r, o)
		if recorder.Code != c.want || !strings.Contains(recorder.Body.String(), c.text) {
			t.Errorf("%s: %d %s", name, recorder.Code, recorder.Body)
		}
	}
	if refused := g.Marks().Refused; len(refused) > 0 {
		t.Errorf("counted as viewers: %q", refused)
	}
}

// Browsers do not do it today; a proxy may be set to.
func TestAWebSocketOverHTTP2IsRefusedAndLoggedOnce(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	o := Options{Gateway: vncrelaytest.New(t, options{}), Logger: zap.New(core)}
	for _, version := range []int{2, 3, 2} {
		r, recorder := upgrade(), httptest.NewRecorder()
		r.Method, r.ProtoMajor, r.ProtoMinor = http.MethodConnect, version, 0
		Serve(recorder, r, o)
		if recorder.Code != http.StatusNotImplemented {
			t.Errorf("HTTP/%d: %d", version, recorder.Code)
		}
	}
	if logs.Len() != 1 {
		t.Errorf("%d lines", logs.Len())
	}
}
