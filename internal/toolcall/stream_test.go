package toolcall

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/internal/toolserver"
)

const progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":2.50,"message":"mellon is near"}}`

// event is a message as a server sends it.
func event(id int, message string) string {
	return fmt.Sprintf("id: %d\r\nevent: message\r\ndata: %s\r\n\r\n", id, message)
}

func TestAStreamPassesEventByEvent(t *testing.T) {
	body := ": ping\n\n" + "id: 0\ndata:\n\n" + event(1, progress) + event(2, result)
	r := newRig(t, answering(200, asEvents, body+event(3, progress)))
	w := r.serve(post(toolCall("echo")))
	if w.Code != 200 || w.Body.String() != body {
		t.Fatalf("%d %q", w.Code, w.Body)
	}
	h := w.Header()
	if h.Get("Content-Type") != asEvents || h.Get("X-Accel-Buffering") != "no" || h.Get("Cache-Control") != "no-store" {
		t.Errorf("header %v", h)
	}
	if row := r.row(t); !row.Stream || row.Code != "" || row.Status != 200 || row.FirstToken == 0 {
		t.Errorf("%+v", row)
	}
	r.released(t)
}

func TestAnErrorOfAToolIsInItsRow(t *testing.T) {
	failed := strings.Replace(result, `"content"`, `"isError":true,"content"`, 1)
	for contentType, body := range map[string]string{asJSON: failed, asEvents: event(1, failed)} {
		r := newRig(t, answering(200, contentType, body))
		if w := r.serve(post(toolCall("echo"))); w.Code != 200 || !r.row(t).IsError || r.row(t).Code != "" {
			t.Errorf("%d %s: %+v", w.Code, w.Body, r.row(t))
		}
	}
}

// Each message is judged as a whole: what is taken out of it is gone, the fields of its event stay, and
// what is refused ends the call with an error that names the request.
func TestGuardrailsJudgeEachEvent(t *testing.T) {
	guarded := func(action judge.Action) func(*rig) {
		return func(r *rig) { r.Guardrails.All = []guardrail.Guardrail{words(t, guardrail.Output, action)} }
	}
	r := newRig(t, answering(200, asEvents, event(1, progress)+event(2, result)), guarded(judge.Redact))
	w := r.serve(post(toolCall("echo")))
	want := "id: 1\nevent: message\ndata: " + strings.Replace(progress, "mellon", "[REDACTED:words]", 1) + "\n\n" + event(2, result)
	if w.Body.String() != want || r.row(t).Code != "" {
		t.Errorf("%q, want %q", w.Body, want)
	}
	r = newRig(t, answering(200, asEvents, event(1, result)+event(2, progress)), guarded(judge.Deny))
	if w := r.serve(post(toolCall("echo"))); strings.Contains(w.Body.String(), "error") {
		t.Errorf("what comes after the answer is not read: %s", w.Body)
	}
	r = newRig(t, answering(200, asEvents, event(1, progress)+event(2, result)), guarded(judge.Deny))
	w = r.serve(post(toolCall("echo")))
	code, data := errorIn(t, []byte(strings.TrimPrefix(w.Body.String(), "event: message\ndata: ")))
	if code != mcp.CodeRefused || data["code"] != "guardrail_blocked" || strings.Contains(w.Body.String(), "mellon") || r.row(t).Code != "guardrail_blocked" {
		t.Errorf("%s", w.Body)
	}
	r.released(t)
}

func TestARequestIsRedactedBeforeItIsSent(t *testing.T) {
	var sent []byte
	r := newRig(t, roundTrip(func(req *http.Request) (*http.Response, error) {
		sent, _ = io.ReadAll(req.Body)
		return reply(200, asJSON, strings.NewReader(result)), nil
	}), func(r *rig) {
		r.Guardrails.All = []guardrail.Guardrail{words(t, guardrail.Input, judge.Redact)}
	})
	body := message("tools/call", `{"name":"echo","arguments":{"id":"mellon","deep":[{"text":"say mellon","n":1.50}]}}`)
	r.serve(post(body))
	if want := strings.ReplaceAll(body, "mellon", "[REDACTED:words]"); string(sent) != want {
		t.Errorf("sent %s, want %s", sent, want)
	}
}

// The header repeats names and arguments of the message: what is taken out of the one is taken out of
// the other, and what is refused in the one is refused in the other.
func TestTheHeaderIsJudgedAsTheMessage(t *testing.T) {
	secretText := "mellon ü"
	request := func() *http.Request {
		req := post(message("resources/read", `{"uri":"file:///mellon"}`))
		req.Header.Set("Mcp-Param-Where", mcp.EncodeName(secretText))
		return req
	}
	var sent http.Header
	r := newRig(t, roundTrip(func(req *http.Request) (*http.Response, error) {
		sent = req.Header
		return reply(200, asJSON, strings.NewReader(result)), nil
	}), func(r *rig) { r.Guardrails.All = []guardrail.Guardrail{words(t, guardrail.Input, judge.Redact)} })
	r.serve(request())
	where, _ := mcp.DecodeName(sent.Get("Mcp-Param-Where"))
	if sent.Get(mcp.HeaderName) != "file:///[REDACTED:words]" || where != "[REDACTED:words] ü" {
		t.Errorf("sent %v, %q", sent, where)
	}
	sent = nil
	r.Guardrails.All = []guardrail.Guardrail{words(t, guardrail.Input, judge.Deny)}
	r.Guardrails = &policy.Guardrails{All: r.Guardrails.All, Join: judge.Join}
	req := post(toolCall("echo"))
	req.Header.Set("Mcp-Param-Where", mcp.EncodeName(secretText))
	if r.serve(req); sent != nil || r.row(t).Code != "guardrail_blocked" {
		t.Errorf("sent %v, %+v", sent, r.row(t))
	}
}

// A server of the older versions may end a stream before its answer if the client can resume it.
func TestAStreamThatCanBeResumedMayEndEarly(t *testing.T) {
	call := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo"}}`
	for _, c := range []struct {
		body string
		code string
	}{
		{"id: 1\nretry: 500\ndata:\n\n", ""},
		{"data:\n\n", "upstream_error"},
	} {
		r := newRig(t, answering(200, asEvents, c.body))
		w := r.serve(old(http.MethodPost, "", call))
		if got := r.row(t).Code; got != c.code || strings.Contains(w.Body.String(), "error") != (c.code != "") {
			t.Errorf("%q: %q, %s", c.body, got, w.Body)
		}
	}
}

// The client resumes at another gateway, or after a cut: it may get answers to earlier requests, which
// are filtered as any other.
func TestAResumedStreamHasAnswersToEarlierRequests(t *testing.T) {
	list := strings.Replace(toolList(), `"id":7`, `"id":3`, 1)
	r := newRig(t, answering(200, asEvents, event(2, list)), func(r *rig) { r.spec.Tools = []string{"files/list"} })
	req := old(http.MethodGet, "", "")
	if w := r.serve(req); strings.Contains(w.Body.String(), "write_file") || r.row(t).Code != "upstream_error" {
		t.Errorf("a new stream has the answer to another request: %s, %+v", w.Body, r.row(t))
	}
	w := resume(t, r)
	if !jsontest.Has(t, w, `{"name":"list"}`) || strings.Contains(w, "write_file") || r.row(t).Code != "" {
		t.Errorf("%s, %+v", w, r.row(t))
	}
}

// resume continues a stream of the caller's session.
func resume(t *testing.T, r *rig) string {
	t.Helper()
	events := r.Servers
	r.Servers = r.answeredBy(t, &sessions{}, new(int))
	begin(t, r)
	r.Servers = events
	req := old(http.MethodGet, session1, "")
	req.Header.Set(mcp.HeaderLastEvent, "1")
	return r.serve(req).Body.String()
}

// What guardrails refuse in a stream that stays open is left out: the client would come back for it.
func TestAnOpenStreamLeavesOutWhatIsRefused(t *testing.T) {
	other := `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	r := newRig(t, answering(200, asEvents, event(1, progress)+event(2, other)), func(r *rig) {
		r.Guardrails.All = []guardrail.Guardrail{words(t, guardrail.Output, judge.Deny)}
	})
	if w := r.serve(old(http.MethodGet, "", "")); w.Body.String() != event(2, other) || r.row(t).Code != "" {
		t.Errorf("%q, %+v", w.Body, r.row(t))
	}
}

// endless is a body that never ends.
type endless struct {
	piece string
	read  int64
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.piece)
	e.read += int64(n)
	return n, nil
}

// A server that sends without end is stopped, whatever it sends.
func TestAnEndlessAnswerIsStopped(t *testing.T) {
	for name, c := range map[string]struct{ contentType, piece string }{
		"a result":        {asJSON, `{"jsonrpc":"2.0","id":7,"result":{"text":"`},
		"an event":        {asEvents, "data: x"},
		"events":          {asEvents, event(1, progress)},
		"comments":        {asEvents, ": ping\n\n"},
		"lines of spaces": {asEvents, "\n\n\n\n\n\n\n\n"},
		"an error":        {"text/html", "<h1>"},
	} {
		body := &endless{piece: c.piece}
		r := newRig(t, roundTrip(func(*http.Request) (*http.Response, error) { return reply(200, c.contentType, body), nil }), func(r *rig) {
			r.config.MaxResult = 64 << 10
		})
		w := r.serve(post(toolCall("echo")))
		if row := r.row(t); row.Code != "upstream_error" || body.read > 3*maxStream*r.config.MaxResult || !jsontest.Has(t, w.Body.String(), `{"code":-32603}`) {
			t.Errorf("%s: %d bytes read, %+v", name, body.read, row)
		}
		r.released(t)
	}
}

func TestAResultOf100MBIsNotKept(t *testing.T) {
	body := io.MultiReader(strings.NewReader(`{"jsonrpc":"2.0","id":7,"result":{"x":"`), io.LimitReader(&endless{piece: "xxxxxxxx"}, 100<<20), strings.NewReader(`"}}`))
	r := newRig(t, roundTrip(func(*http.Request) (*http.Response, error) { return reply(200, asJSON, body), nil }))
	r.serve(post(toolCall("echo")))
	if row := r.row(t); row.RefusedBy != "mcp files: max_result" || row.AnswerBytes > 2*toolserver.DefaultMaxResult {
		t.Errorf("%+v", row)
	}
	r.released(t)
}

func TestMoreToolsThanAreLookedAtAreRefused(t *testing.T) {
	list := func(n int) string {
		return `{"jsonrpc":"2.0","id":7,"result":{"tools":[` + strings.TrimSuffix(strings.Repeat(`{"name":"list"},`, n), ",") + `]}}`
	}
	for n, code := range map[int]string{mcp.MaxTools: "", mcp.MaxTools + 1: "upstream_error"} {
		r := newRig(t, answering(200, asJSON, list(n)))
		if w := r.serve(post(message("tools/list", ""))); r.row(t).Code != code || (w.Body.String() == list(n)) != (code == "") {
			t.Errorf("%d tools: %q", n, r.row(t).Code)
		}
	}
}

// A tool that shows what the gateway sent would show the credential of the server.
func TestAServerCannotShowTheCredential(t *testing.T) {
	echoed := strings.Replace(result, "hello", "Authorization: Bearer "+credential+" for "+secret, 1)
	for contentType, body := range map[string]string{asJSON: echoed, asEvents: event(1, echoed)} {
		w := newRig(t, answering(200, contentType, body)).serve(post(toolCall("echo")))
		if text := w.Body.String(); strings.Contains(text, credential) || strings.Contains(text, secret) || !strings.Contains(text, "Bearer [redacted]") {
			t.Errorf("%s", text)
		}
	}
}

// Proxies close connections in which nothing is sent.
func TestASilentStreamHasComments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, silentUntil(40*time.Second), heartbeat)
		if w := r.serve(post(toolCall("echo"))); w.Body.String() != ": keep-alive\n\n: keep-alive\n\n"+event(1, result) || r.row(t).Code != "" {
			t.Errorf("%q, %+v", w.Body, r.row(t))
		}
		r.released(t)
	})
}

func TestAClientThatReadsNoCommentsLosesItsStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, silentUntil(time.Hour), heartbeat)
		began := time.Now()
		r.ServeHTTP(&stuck{ResponseRecorder: httptest.NewRecorder(), after: 1, late: make(chan struct{})}, post(toolCall("echo")))
		if took := time.Since(began); took != r.Heartbeat+r.Write || r.row(t).Code != "client_closed_request" {
			t.Errorf("after %s: %+v", took, r.row(t))
		}
		r.released(t)
	})
}

func heartbeat(r *rig) { r.Heartbeat = 15 * time.Second }

// silentUntil answers after a time with a stream of one event.
func silentUntil(after time.Duration) roundTrip {
	return func(req *http.Request) (*http.Response, error) {
		reader, writer := io.Pipe()
		late := time.AfterFunc(after, func() {
			_, err := io.WriteString(writer, event(1, result))
			_ = writer.CloseWithError(err)
		})
		context.AfterFunc(req.Context(), func() {
			late.Stop()
			_ = writer.CloseWithError(req.Context().Err())
		})
		return reply(200, asEvents, reader), nil
	}
}
