package toolserver_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/toolserver"
)

// transport answers by a function, and keeps the last request.
type transport struct {
	last   *http.Request
	body   string
	answer func(r *http.Request) (*http.Response, error)
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	t.last, t.body = r, string(body)
	if t.answer == nil {
		return answer(http.StatusOK), nil
	}
	return t.answer(r)
}

func answer(status int) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}
}

// server makes a server of a usual configuration that a test changes.
func server(t *testing.T, tr *transport, change func(*toolserver.Config)) *toolserver.Server {
	t.Helper()
	c := config(tr)
	if change != nil {
		change(&c)
	}
	s, err := toolserver.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func config(tr *transport) toolserver.Config {
	return toolserver.Config{Name: "github", URL: "https://tools.example.com/mcp", Transport: tr, UserAgent: "gatehouse", Now: time.Now}
}

func constant(text string) func() string { return func() string { return text } }

func TestARequestHasTheHeaderOfTheProtocolAndOfTheBlock(t *testing.T) {
	tr := &transport{}
	s := server(t, tr, func(c *toolserver.Config) {
		c.Credential = provider.NewAPIKey(constant("upstream-key"), provider.BearerField)
		c.Header = []provider.HeaderField{{Name: "x-team", Value: constant("core")}}
		c.Query = url.Values{"profile": {"a b"}}
	})
	header := http.Header{"Content-Type": {"application/json"}, "Mcp-Method": {"tools/call"}, "User-Agent": {"client"}, "Accept-Encoding": {"gzip"}}
	resp, err := s.Send(t.Context(), http.MethodPost, header, []byte(`{"id":1}`))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if tr.last.URL.String() != "https://tools.example.com/mcp?profile=a+b" || tr.last.Method != http.MethodPost || tr.body != `{"id":1}` {
		t.Errorf("%s %s %q", tr.last.Method, tr.last.URL, tr.body)
	}
	for name, want := range map[string]string{
		"Authorization": "Bearer upstream-key", "X-Team": "core", "Mcp-Method": "tools/call", "User-Agent": "gatehouse", "Accept-Encoding": "identity",
		"Content-Type": "application/json",
	} {
		if got := tr.last.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if len(header) != 4 || header.Get("User-Agent") != "client" {
		t.Errorf("the caller's header was changed: %v", header)
	}
}

func TestARequestWithoutABodyHasNoContentType(t *testing.T) {
	tr := &transport{}
	resp, err := server(t, tr, nil).Send(t.Context(), http.MethodDelete, http.Header{"Content-Type": {"application/json"}, "Mcp-Session-Id": {"s"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if tr.last.Method != http.MethodDelete || tr.last.Header.Get("Content-Type") != "" || tr.last.ContentLength != 0 || tr.last.Header.Get("Mcp-Session-Id") != "s" {
		t.Errorf("%s %v", tr.last.Method, tr.last.Header)
	}
}

func TestARedirectIsAnError(t *testing.T) {
	tr := &transport{answer: func(*http.Request) (*http.Response, error) { return answer(http.StatusTemporaryRedirect), nil }}
	if _, err := server(t, tr, nil).Send(t.Context(), http.MethodPost, http.Header{}, []byte("{}")); !errors.Is(err, provider.ErrRedirect) {
		t.Errorf("error %v", err)
	}
}

// rotating is a credential of which the next one is good.
type rotating struct{ at int }

func (r *rotating) Sign(req *http.Request) error {
	req.Header.Set("Authorization", fmt.Sprint("Bearer ", r.at))
	return nil
}
func (r *rotating) Refused(int) bool  { r.at++; return true }
func (r *rotating) Secrets() []string { return nil }

func TestARefusedTokenIsRenewedOnce(t *testing.T) {
	for _, good := range []string{"Bearer 0", "Bearer 1", "never"} {
		var bodies []string
		tr := &transport{}
		tr.answer = func(r *http.Request) (*http.Response, error) {
			if bodies = append(bodies, tr.body); r.Header.Get("Authorization") != good {
				return answer(http.StatusUnauthorized), nil
			}
			return answer(http.StatusOK), nil
		}
		s := server(t, tr, func(c *toolserver.Config) { c.Credential = &rotating{} })
		resp, err := s.Send(t.Context(), http.MethodPost, http.Header{}, []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if want := map[string]string{"Bearer 0": "200 [{}]", "Bearer 1": "200 [{} {}]", "never": "401 [{} {}]"}[good]; fmt.Sprint(resp.StatusCode, " ", bodies) != want {
			t.Errorf("%s: %d %v, want %s", good, resp.StatusCode, bodies, want)
		}
	}
}

// Access is the intersection of server, tenant and key, for each tool.
func TestAToolNeedsServerTenantAndKey(t *testing.T) {
	rights := map[string]toolserver.Rights{
		"all":  {},
		"read": {Allow: pattern.List{"read_*", "list"}},
		"none": {Deny: pattern.List{"*"}},
		"safe": {Deny: pattern.List{"write_*"}},
		"some": {Allow: pattern.List{"*_file"}, Deny: pattern.List{"write_*"}},
	}
	server := func(name string) *toolserver.Server {
		return server(t, &transport{}, func(c *toolserver.Config) { c.Tools = rights[name] })
	}
	const all = "list read_file read_log write_file"
	for _, c := range []struct{ server, tenant, key, want string }{
		{"all", "", "", ""},
		{"all", "", "github/*", all},
		{"all", "", "other/*", ""},
		{"all", "github/*", "github/*", all},
		{"all", "other/*", "github/*", ""},
		{"all", "github/read_*", "github/*", "read_file read_log"},
		{"all", "github/read_*", "github/*_file", "read_file"},
		{"all", "github/read_*", "github/write_*", ""},
		{"read", "", "github/*", "list read_file read_log"},
		{"read", "github/*_file", "github/*", "read_file"},
		{"read", "github/*_file", "github/write_*", ""},
		{"none", "", "github/*", ""},
		{"safe", "", "github/*", "list read_file read_log"},
		{"safe", "", "github/write_file", ""},
		{"some", "", "github/*", "read_file"},
		{"some", "github/list", "github/*", ""},
	} {
		ring, err := keys.NewKeyring([]keys.Spec{{
			Name: "dev", Secrets: []string{"a-secret-of-the-test"}, Scopes: []string{"mcp:call"},
			Tools: strings.Fields(c.key), TenantTools: strings.Fields(c.tenant),
		}})
		if err != nil {
			t.Fatal(err)
		}
		key, s := named(t, ring), server(c.server)
		var may []string
		for _, tool := range strings.Fields(all) {
			if s.AllowsTool(tool) && key.AllowsTool(s.Name, tool) {
				may = append(may, tool)
			}
		}
		if got := strings.Join(may, " "); got != c.want {
			t.Errorf("server %s, tenant %q, key %q: %q, want %q", c.server, c.tenant, c.key, got, c.want)
		}
		if len(may) > 0 && !key.AllowsServer(s.Name) {
			t.Errorf("server %s, tenant %q, key %q: the key does not reach the server of its tools", c.server, c.tenant, c.key)
		}
	}
}

func named(t *testing.T, ring *keys.Keyring) *keys.Key {
	t.Helper()
	c, ok := ring.Named("dev")
	if !ok {
		t.Fatal("no key")
	}
	return c.Key
}

func TestTheFirstPriceThatFitsIsTaken(t *testing.T) {
	s := server(t, &transport{}, func(c *toolserver.Config) {
		c.Prices = []toolserver.Price{{Pattern: "search", Nano: 10}, {Pattern: "free_*", Nano: 0}, {Pattern: "*e*", Nano: 3}}
	})
	for tool, want := range map[string]int64{"search": 10, "research": 3, "free_one": 0} {
		if nano := s.Price(tool); nano != want {
			t.Errorf("%s: %d", tool, nano)
		}
	}
	if nano := s.Price("list"); nano != 0 {
		t.Errorf("a tool without a price costs %d", nano)
	}
}

func TestBadServersAreRefused(t *testing.T) {
	field := func(name string) func(*toolserver.Config) {
		return func(c *toolserver.Config) { c.Header = []provider.HeaderField{{Name: name, Value: constant("v")}} }
	}
	forward := func(names ...string) func(*toolserver.Config) {
		return func(c *toolserver.Config) { c.Forward = names }
	}
	at := func(address string) func(*toolserver.Config) { return func(c *toolserver.Config) { c.URL = address } }
	for want, changes := range map[string][]func(*toolserver.Config){
		"want http://host/":                             {at(""), at("tools.example.com/mcp"), at("ftp://tools.example.com/"), at("stdio:server"), at("https:///mcp")},
		"no user, query or fragment is possible":        {at("https://u:p@tools.example.com/"), at("https://tools.example.com/?key=x"), at("https://tools.example.com/#a")},
		"mcp name":                                      {func(c *toolserver.Config) { c.Name = "Git Hub" }, func(c *toolserver.Config) { c.Name = "a/b" }},
		"no transport":                                  {func(c *toolserver.Config) { c.Transport = nil }},
		"it belongs to the protocol":                    {field("Mcp-Session-Id"), field("mcp-protocol-version"), field("Last-Event-ID"), field("Origin")},
		"the gateway sets it itself":                    {field("Content-Type"), field("Accept"), forward("Host"), forward("content-type"), forward("Mcp-Session-Id"), forward("User-Agent")},
		"a credential of the client is never passed on": {forward("Authorization"), forward("cookie"), forward("X-Api-Key"), forward("X-Auth-Token"), forward("x-amz-security-token")},
		"this is not the name of a header field":        {forward("X Team"), forward("")},
		"forward_header x-team is given twice":          {forward("X-Team", "x-team")},
		"forward_header X-Team: header sets it":         {func(c *toolserver.Config) { forward("X-Team")(c); field("x-team")(c) }},
		"at most 32 fields":                             {forward(make([]string, 33)...)},
		"header authorization: api_key, oauth or auth": {func(c *toolserver.Config) {
			field("authorization")(c)
			c.Credential = provider.NewAPIKey(constant("k"), provider.BearerField)
		}},
		"tools: pattern is empty":   {func(c *toolserver.Config) { c.Tools.Deny = pattern.List{""} }, func(c *toolserver.Config) { c.Tools.Allow = pattern.List{""} }},
		"price: pattern is empty":   {func(c *toolserver.Config) { c.Prices = []toolserver.Price{{}} }},
		"price a: a negative price": {func(c *toolserver.Config) { c.Prices = []toolserver.Price{{Pattern: "a", Nano: -1}} }},
		"price a is given twice":    {func(c *toolserver.Config) { c.Prices = []toolserver.Price{{Pattern: "a"}, {Pattern: "a"}} }},
		"max_result: want":          {func(c *toolserver.Config) { c.MaxResult = -1 }, func(c *toolserver.Config) { c.MaxResult = toolserver.MostMaxResult + 1 }},
		"query: a name is missing":  {func(c *toolserver.Config) { c.Query = url.Values{"": {"x"}} }},
	} {
		for i, change := range changes {
			c := config(&transport{})
			change(&c)
			if _, err := toolserver.New(c); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%d: %v, want %q", i, err, want)
			}
		}
	}
}

func TestServersAreFoundByName(t *testing.T) {
	named := func(name string) *toolserver.Server {
		return server(t, &transport{}, func(c *toolserver.Config) { c.Name = name })
	}
	b, a := named("b"), named("a")
	all, err := toolserver.NewServers([]*toolserver.Server{b, a})
	if err != nil || all.Named("a") != a || all.Named("c") != nil {
		t.Fatal(err, all)
	}
	var names []string
	for s := range all.All() {
		names = append(names, s.Name)
	}
	if strings.Join(names, " ") != "a b" {
		t.Errorf("order %v", names)
	}
	if _, err := toolserver.NewServers([]*toolserver.Server{a, b, a}); err == nil || !strings.Contains(err.Error(), `mcp "a" is configured twice`) {
		t.Errorf("error %v", err)
	}
	var none *toolserver.Servers
	if none.Named("a") != nil {
		t.Error("no servers have one")
	}
	for range none.All() {
		t.Error("no servers have one")
	}
}
