package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

const withSockets = "\nresponses_websocket\n"

// socket is a WebSocket of the Responses API.
type socket struct {
	t *testing.T
	*websocket.Conn
}

// dialSocket opens one with the key of a name, or a secret.
func dialSocket(h *harness.Gateway, key string) (*socket, *http.Response) {
	h.T.Helper()
	if !strings.Contains(key, "-") {
		key = harness.Secret(key)
	}
	conn, resp, err := websocket.Dial(h.T.Context(), h.Client.Origin+harness.ResponsesV1, &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer " + key}},
	})
	if err != nil {
		if resp == nil {
			h.T.Fatal(err)
		}
		return nil, resp
	}
	conn.SetReadLimit(64 << 20)
	h.T.Cleanup(func() { _ = conn.CloseNow() })
	return &socket{h.T, conn}, resp
}

func openSocket(h *harness.Gateway, key string) *socket {
	h.T.Helper()
	s, resp := dialSocket(h, key)
	if s == nil {
		h.T.Fatal(resp.Status)
	}
	return s
}

// create asks for a response with the members of a body.
func (s *socket) create(body string) {
	s.t.Helper()
	if err := s.Write(s.t.Context(), websocket.MessageText, []byte(`{"type":"response.create",`+body[1:])); err != nil {
		s.t.Fatal(err)
	}
}

// end reads to the end of a response, and returns its last event.
func (s *socket) end() any {
	s.t.Helper()
	for {
		_, data, err := s.Read(s.t.Context())
		if err != nil {
			s.t.Fatal(err)
		}
		e := harness.Parse(s.t, data)
		switch harness.At(e, "type") {
		case "response.completed", "response.incomplete", "response.failed", "error":
			return e
		}
	}
}

// ended returns how the connection ends.
func (s *socket) ended() (code websocket.StatusCode) {
	for {
		if _, _, err := s.Read(s.t.Context()); err != nil {
			return websocket.CloseStatus(err)
		}
	}
}

// A call over a WebSocket costs what the same call over HTTP costs, whatever its end, and has its
// row.
func TestACallOverAWebSocketIsSettledAsOneOverHTTP(t *testing.T) {
	h := harness.StartPriced(t, harness.Setup{
		Keys: harness.FullKey("budget 10usd/total\nmax_output_tokens 100\nunpriced allow") + harness.Key("activity", ""), Options: withSockets,
	})
	spent := func() int64 {
		b := h.Records.Key("full").Budgets[0]
		if harness.Nano(t, b.Reserved) != 0 {
			t.Errorf("%s is reserved", b.Reserved)
		}
		return harness.Nano(t, b.Spent)
	}
	s := openSocket(h, "full")
	for _, model := range []string{
		"fake/echo", "chatonly/echo", "fake/usage-all", "chatonly/usage-all", "fake/usage-more", "fake/length", "fake/no-usage", "fake/no-stream", "fake/reasoning",
		"fake/tools", "fake/crlf", "fake/byte-wise", "fake/done", "fake/comments", "fake/unknown-event",
		"fake/err-500", "fake/err-first-event", "fake/err-mid-stream", "chatonly/err-mid-stream", "fake/response-failed", "fake/cut-clean", "fake/cut-mid-stream",
		"fake/cut-reset", "fake/malformed", "fake/empty", "fake/no-answer", "fake/html-502", "fake/err-429", "fake/huge-chunk",
	} {
		// What a provider may have made that has broken off without an answer follows its time.
		byTime := model == "fake/no-answer"
		body := harness.Responses(model, harness.Streaming)
		before := spent()
		stream := h.Client.Open(h.Client.Request(harness.ResponsesV1, "full", body))
		_, _ = stream.Rest() // it may be cut
		posted := h.Records.RowSoon("request_id=" + stream.Response.Header.Get("X-Request-Id"))
		overHTTP := spent() - before
		s.create(body)
		last := s.end()
		newest := "limit=1&model=" + url.QueryEscape(model)
		row := h.Records.RowSoon(newest)
		if !harness.Eventually(func() bool { row = h.Records.RowSoon(newest); return harness.At(row, "transport") == "websocket" }) {
			t.Fatalf("%s: row %v", model, row)
		}
		if cost := spent() - before - overHTTP; cost != overHTTP && !byTime {
			t.Errorf("%s: it costs %d, over HTTP %d", model, cost, overHTTP)
		}
		for _, field := range []string{"model", "provider_name", "status", "code", "finish_reason", "usage_source", "usage", "prompt_tokens", "completion_tokens", "route"} {
			if byTime && field == "completion_tokens" {
				continue
			}
			if got, want := harness.At(row, field), harness.At(posted, field); got != want {
				t.Errorf("%s: %s is %v, over HTTP %v", model, field, got, want)
			}
		}
		kind := harness.At(last, "type")
		if whole := kind == "response.completed" || kind == "response.incomplete"; whole != (harness.At(row, "code") == nil) {
			t.Errorf("%s: the row has %v, the client %v", model, harness.At(row, "code"), last)
		}
	}
}

// A client that leaves ends the call at the provider within a second, and it is settled.
func TestAClientThatLeavesItsWebSocketEndsTheCall(t *testing.T) {
	h := harness.StartPriced(t, harness.Setup{
		Keys: harness.FullKey("budget 10usd/total\nmax_output_tokens 100\nunpriced allow") + harness.Key("activity", ""), Options: withSockets,
	})
	for n, model := range []string{"fake/delayed-headers-60000", "fake/stall", "chatonly/stall"} {
		h.Provider.Fake.Reset()
		s := openSocket(h, "full")
		s.create(harness.Responses(model, ""))
		h.Provider.Wait(func(list []faults.Request) bool { return len(list) == 1 && !list[0].BodyReadAt.IsZero() })
		left := time.Now()
		_ = s.CloseNow() // no Close frame, as Codex leaves
		list := h.Provider.Wait(func(list []faults.Request) bool { return len(list) == 1 && list[0].ClientGone })
		if late := list[0].GoneAt.Sub(left); late > time.Second {
			t.Errorf("%s: the provider was cancelled after %s", model, late)
		}
		var rows []any
		if !harness.Eventually(func() bool { rows = h.Records.Rows("status=499"); return len(rows) == n+1 }) {
			t.Fatalf("%s: rows %v", model, rows)
		}
		if b := h.Records.Key("full").Budgets[0]; harness.Nano(t, b.Reserved) != 0 {
			t.Errorf("%s: %s is reserved", model, b.Reserved)
		}
	}
}

// Another target is asked before the first event, and none after it.
func TestAWebSocketFailsOver(t *testing.T) {
	h, _ := startFailover(t, harness.Setup{Options: withSockets}, map[string][]string{
		"first": {"err-500", "echo"}, "event": {"err-first-event", "echo"}, "late": {"err-mid-stream", "echo"},
	})
	s := openSocket(h, "full")
	for alias, asked := range map[string]int{"first": 2, "event": 2, "late": 1} {
		h.Provider.Fake.Reset()
		s.create(harness.Responses("team/"+alias, ""))
		last := harness.At(s.end(), "type")
		if n := len(h.Provider.Fake.Requests()); n != asked || (last == "response.completed") != (asked == 2) {
			t.Errorf("%s: %d requests, %v", alias, n, last)
		}
	}
}

func TestTheHandshakeOfAWebSocketIsJudged(t *testing.T) {
	h := harness.Start(t, harness.Setup{Options: "\nresponses_websocket {\nper_key 2\n}\n"})
	want := func(key string, status int, code string) {
		t.Helper()
		s, resp := dialSocket(h, key)
		if s != nil {
			t.Fatalf("%s: it opens", key)
		}
		var body any
		if err := json.NewDecoder(resp.Body).Decode(&body); err != nil || resp.StatusCode != status || harness.At(body, "error", "code") != code {
			t.Errorf("%s: %s %v, %v", key, resp.Status, body, err)
		}
	}
	want("gk-wrong-0123456789012345678901", 401, "invalid_api_key")
	want("models", 403, "insufficient_scope")
	r := h.Client.Request(harness.ResponsesV1, "full", "")
	r.Method = http.MethodGet
	harness.WantRefusal(t, harness.ResponsesV1, h.Client.Send(r), 405, "method_not_allowed")
	r = h.Client.Request(harness.ResponsesV1, "full", "")
	r.Method = http.MethodGet
	r.Header.Set("Upgrade", "websocket")
	r.Header.Set("Connection", "Upgrade")
	harness.WantRefusal(t, harness.ResponsesV1, h.Client.Send(r), 400, "invalid_value")
	for range 2 {
		openSocket(h, "full")
	}
	want("full", 429, "concurrency_limit_exceeded")
	openSocket(h, "chat")
}

// At a reload an idle connection ends at once, and one with a response when it has ended. New ones
// are of the new configuration, which may have none.
func TestAReloadEndsWebSockets(t *testing.T) {
	setup := harness.Setup{Options: withSockets}
	h := harness.Start(t, setup)
	idle, busy := openSocket(h, "full"), openSocket(h, "full")
	busy.create(harness.Responses("fake/delayed-headers-1500", ""))
	h.Provider.Wait(func(list []faults.Request) bool { return len(list) == 1 && !list[0].BodyReadAt.IsZero() })
	setup.Options = ""
	h.Become(setup)
	if code := idle.ended(); code != websocket.StatusServiceRestart {
		t.Errorf("idle: %d", code)
	}
	if last := busy.end(); harness.At(last, "type") != "response.completed" {
		t.Errorf("busy: %v", last)
	}
	if code := busy.ended(); code != websocket.StatusServiceRestart {
		t.Errorf("busy: %d", code)
	}
	if s, resp := dialSocket(h, "full"); s != nil || resp.StatusCode != 426 {
		t.Errorf("without the option: %v", resp.Status)
	}
}

// A key that is deleted ends its connections within a second.
func TestADeletedKeyEndsItsWebSockets(t *testing.T) {
	h := harness.Start(t, harness.Setup{
		Keys:    "key full {\nsecret {env.KEY_FULL}\nscopes keys:manage\n}\n" + harness.Key("activity", ""),
		Options: withSockets + "runtime_keys {\nscopes chat:write\n}\n",
	})
	made := h.Client.Want(201, http.MethodPost, "/api/v1/keys", "full", `{"name":"made"}`)
	key, _ := harness.At(harness.Parse(t, made.Body), "key").(string)
	hash, _ := harness.At(harness.Parse(t, made.Body), "data", "hash").(string)
	s := openSocket(h, key)
	s.create(harness.Responses("fake/echo", ""))
	s.end()
	h.Client.Want(200, http.MethodDelete, "/api/v1/keys/"+hash, "full", "")
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), harness.WaitLimit)
	defer cancel()
	_, _, err := s.Read(ctx)
	if code := websocket.CloseStatus(err); code != websocket.StatusPolicyViolation || time.Since(began) > time.Second {
		t.Errorf("%v after %s", err, time.Since(began))
	}
}
