package toolcall

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp"
	"github.com/gatehouse-proxy/gatehouse/internal/owners"
	sqliteowners "github.com/gatehouse-proxy/gatehouse/internal/owners/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/toolserver"
)

const session1 = "3f0c9f9e-visible"

const (
	initialize = `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	begun      = `{"jsonrpc":"2.0","id":7,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`
	oldList    = `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`
	oldTools   = `{"jsonrpc":"2.0","id":7,"result":{"tools":[]}}`
	initted    = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// sessions is a server of the older versions. It knows one session while it is on.
type sessions struct {
	on    bool
	calls []string // method of HTTP and, of a message, its own
	last  http.Header
}

func (s *sessions) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	s.last = req.Header
	method := req.Method
	if m, _ := mcp.Parse(body); m != nil {
		method = m.Method
	}
	s.calls = append(s.calls, method)
	known := s.on && req.Header.Get(mcp.HeaderSession) == session1
	switch {
	case method == "initialize":
		s.on = true
		resp := reply(200, asJSON, strings.NewReader(begun))
		resp.Header.Set(mcp.HeaderSession, session1)
		return resp, nil
	case !known:
		return reply(404, asJSON, strings.NewReader(`{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`)), nil
	case method == "DELETE":
		s.on = false
		return reply(204, "", strings.NewReader("")), nil
	case method == "GET":
		return reply(200, asEvents, strings.NewReader("id: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")), nil
	case strings.HasPrefix(method, "notifications/"):
		return reply(202, "", strings.NewReader("")), nil
	}
	resp := reply(200, asJSON, strings.NewReader(oldTools))
	resp.Header.Set(mcp.HeaderSession, session1)
	return resp, nil
}

// begin begins a session at the rig.
func begin(t *testing.T, r *rig) {
	t.Helper()
	req := old(http.MethodPost, "", initialize)
	req.Header.Del(mcp.HeaderVersion)
	if w := r.serve(req); w.Code != 200 || w.Header().Get(mcp.HeaderSession) != session1 || w.Body.String() != begun {
		t.Fatalf("%d %v %s", w.Code, w.Header(), w.Body)
	}
}

func TestASessionFromItsBeginToItsEnd(t *testing.T) {
	server := &sessions{}
	r := newRig(t, server)
	begin(t, r)
	for _, c := range []struct {
		method, body string
		status       int
		answer       string
	}{
		{http.MethodPost, initted, 202, ""},
		{http.MethodPost, oldList, 200, oldTools},
		{http.MethodGet, "", 200, "notifications/tools/list_changed"},
		{http.MethodDelete, "", 204, ""},
		{http.MethodPost, oldList, 404, "the session does not exist"},
		{http.MethodGet, "", 404, "the session does not exist"},
	} {
		w := r.serve(old(c.method, session1, c.body))
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.answer) || c.answer == "" && w.Body.Len() > 0 {
			t.Errorf("%s %s: %d %s", c.method, c.body, w.Code, w.Body)
		}
		if server.last.Get(mcp.HeaderSession) != session1 && c.status < 300 {
			t.Errorf("%s %s: the server was not told the session", c.method, c.body)
		}
		r.row(t)
	}
	if got := strings.Join(server.calls, " "); got != "initialize notifications/initialized tools/list GET DELETE" {
		t.Errorf("the server was asked %s", got)
	}
	r.released(t)
}

// Each of these requests is of somebody who has learned the id of a session of another.
func TestASessionIsItsOwnersOnly(t *testing.T) {
	server := &sessions{}
	r := newRig(t, server)
	begin(t, r)
	asked := len(server.calls)
	for name, change := range map[string]func(*keys.Spec){
		"another key":    func(s *keys.Spec) { s.Name = "other" },
		"another tenant": func(s *keys.Spec) { s.Tenant = "other" },
	} {
		spec := r.spec
		change(&spec)
		ring, err := keys.NewKeyring([]keys.Spec{spec})
		if err != nil {
			t.Fatal(err)
		}
		mine := r.ring
		r.ring = ring
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
			req := old(method, session1, map[string]string{http.MethodPost: oldList}[method])
			req.Header.Set(mcp.HeaderLastEvent, "1")
			if w := r.serve(req); w.Code != 404 || len(server.calls) != asked {
				t.Errorf("%s, %s: %d %s", name, method, w.Code, w.Body)
			}
		}
		r.ring = mine
	}
	if w := r.serve(old(http.MethodPost, session1, oldList)); w.Code != 200 {
		t.Errorf("its owner: %d %s", w.Code, w.Body)
	}
}

func TestASessionThatNobodyHasOrThatIsNoneIsNotSent(t *testing.T) {
	server := &sessions{on: true}
	r := newRig(t, server)
	for name, req := range map[string]*http.Request{
		"not begun here": old(http.MethodPost, session1, oldList),
		"too long":       old(http.MethodPost, strings.Repeat("x", maxSession+1), oldList),
		"odd":            old(http.MethodPost, "a b", oldList),
		"twice": func() *http.Request {
			req := old(http.MethodPost, session1, oldList)
			req.Header.Add(mcp.HeaderSession, "other")
			return req
		}(),
	} {
		if w := r.serve(req); w.Code != 404 || len(server.calls) > 0 {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

// An hour without use ends a session; use prolongs it. Another gateway of a cluster, and this one after
// a restart, know it from the table.
func TestASessionEndsAfterAnHourWithoutUse(t *testing.T) {
	now := time.Now()
	clock := func() time.Time { return now }
	server := &sessions{}
	r := newRig(t, server, func(r *rig) {
		r.Owners = owners.New(sqliteowners.New(r.store), clock)
	})
	begin(t, r)
	use := func() int {
		r.Owners = owners.New(sqliteowners.New(r.store), clock) // another gateway
		return r.serve(old(http.MethodPost, session1, oldList)).Code
	}
	for range 3 {
		now = now.Add(50 * time.Minute)
		if code := use(); code != 200 {
			t.Fatalf("after 50 minutes: %d", code)
		}
	}
	now = now.Add(61 * time.Minute)
	if code := use(); code != 404 {
		t.Errorf("after 61 minutes: %d", code)
	}
}

func TestAServerMayOnlyNameASessionWhenItBegins(t *testing.T) {
	for name, id := range map[string]string{"odd": "a b", "too long": strings.Repeat("x", maxSession+1)} {
		r := newRig(t, roundTrip(func(req *http.Request) (*http.Response, error) {
			resp := reply(200, asJSON, strings.NewReader(begun))
			resp.Header[mcp.HeaderSession] = []string{id}
			return resp, nil
		}))
		w := r.serve(old(http.MethodPost, "", initialize))
		if code, data := errorIn(t, w.Body.Bytes()); code != mcp.CodeInternal || data["code"] != "upstream_error" || w.Header().Get(mcp.HeaderSession) != "" {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	r := newRig(t, roundTrip(func(req *http.Request) (*http.Response, error) {
		resp := reply(200, asJSON, strings.NewReader(oldTools))
		resp.Header.Set(mcp.HeaderSession, "another-one")
		return resp, nil
	}))
	if w := r.serve(old(http.MethodPost, "", oldList)); w.Code != 200 || w.Header().Get(mcp.HeaderSession) != "" {
		t.Errorf("another session than the request's is shown: %d %v", w.Code, w.Header())
	}
}

func TestTheStatelessEraHasNoSessions(t *testing.T) {
	server := &sessions{}
	r := newRig(t, server)
	for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodHead} {
		req := httptest.NewRequest(method, "/mcp/files", nil)
		if method != http.MethodHead {
			req.Header.Set(mcp.HeaderVersion, mcp.Latest)
		}
		if w := r.serve(req); w.Code != 405 || len(server.calls) > 0 {
			t.Errorf("%s: %d %s", method, w.Code, w.Body)
		}
	}
	req := post(message("tools/list", ""))
	req.Header.Set(mcp.HeaderSession, "somebody-elses")
	req.Header.Set(mcp.HeaderLastEvent, "1")
	r.serve(req)
	if server.last.Get(mcp.HeaderSession) != "" || server.last.Get(mcp.HeaderLastEvent) != "" {
		t.Errorf("the server got %v", server.last)
	}
}

func TestAServerWithoutAStreamOfItsOwnSaysSo(t *testing.T) {
	r := newRig(t, answering(405, "", ""))
	if w := r.serve(old(http.MethodGet, "", "")); w.Code != 405 || r.row(t).Code != "method_not_allowed" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for status, contentType := range map[int]string{200: "text/html", 501: "", 500: ""} { // so some servers say it
		r := newRig(t, answering(status, contentType, ""))
		if w := r.serve(old(http.MethodGet, "", "")); w.Code != 502 || r.Servers.Named("files").Health().State != toolserver.Unknown {
			t.Errorf("%d: %d %s, %+v", status, w.Code, w.Body, r.Servers.Named("files").Health())
		}
	}
}

// A notification has no answer, so that only a status can refuse it.
func TestANotificationIsRefusedByItsStatus(t *testing.T) {
	r := newRig(t, &sessions{})
	for body, status := range map[string]int{
		`{"jsonrpc":"2.0","method":"notifications/unknown"}`:               400,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo"}}`: 400,
		`{"jsonrpc":"2.0","method":"tools/call"}`:                          400,
	} {
		if w := r.serve(old(http.MethodPost, "", body)); w.Code != status {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
}
