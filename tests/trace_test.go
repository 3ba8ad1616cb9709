package tests

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// spanCollector takes traces by OTLP over HTTP.
type spanCollector struct {
	mu    sync.Mutex
	spans []*otlp.Span
}

func (c *spanCollector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var sent collector.ExportTraceServiceRequest
	if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &sent) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range sent.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
}

// tree shows the spans of a trace below their parents.
func (c *spanCollector) tree(traceID string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.SortStableFunc(c.spans, func(a, b *otlp.Span) int { return int(a.StartTimeUnixNano) - int(b.StartTimeUnixNano) })
	var b strings.Builder
	var show func(parent string, depth int)
	show = func(parent string, depth int) {
		for _, span := range c.spans {
			if hex.EncodeToString(span.TraceId) == traceID && string(span.ParentSpanId) == parent {
				kind := strings.TrimPrefix(span.Kind.String(), "SPAN_KIND_")
				fmt.Fprintf(&b, "%s%s %s %s\n", strings.Repeat("  ", depth), span.Name, kind, valueOf(span, "error.type"))
				show(string(span.SpanId), depth+1)
			}
		}
	}
	show("", 0)
	return b.String()
}

// span is the last span of a name in a trace.
func (c *spanCollector) span(t *testing.T, traceID, name string) (found *otlp.Span) {
	t.Helper()
	for _, span := range c.spans {
		if hex.EncodeToString(span.TraceId) == traceID && span.Name == name {
			found = span
		}
	}
	if found == nil {
		t.Fatalf("no span %s in\n%s", name, c.tree(traceID))
	}
	return found
}

func valueOf(span *otlp.Span, key string) string {
	for _, a := range span.Attributes {
		if a.Key == key {
			return a.Value.GetStringValue()
		}
	}
	return ""
}

// collectSpans is a collector to which the Caddy of a test sends its spans.
func collectSpans(t *testing.T) *spanCollector {
	t.Helper()
	collected := new(spanCollector)
	server := httptest.NewServer(collected)
	t.Cleanup(server.Close)
	sendSpansTo(t, server.URL)
	return collected
}

// sendSpansTo sets the environment from which Caddy's exporter reads where spans go.
func sendSpansTo(t *testing.T, collector string) {
	t.Setenv("OTEL_TRACES_EXPORTER", "otlp")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector)
}

const tracedSite = "tracing {\nspan gateway\n}\n" + defaultSite

// Caddy's own directive sends the spans of the gateway to a collector, in one trace with its own.
func TestATraceReachesTheCollector(t *testing.T) {
	collected := collectSpans(t)
	h := start(t, setup{
		providers: strings.Replace(defaultProviders, "discover off", "discover off\ntrace_context", 1),
		options:   "alias fast {\ngroup {\ntarget fake/err-500\n}\ngroup {\ntarget fake/echo\n}\n}\n",
		site:      tracedSite,
	})
	first := h.post(chatV1, "full", chat("fast", ""))
	refused := h.post(chatV1, "models", chat("fast", ""))
	if first.status != 200 || refused.status != 403 {
		t.Fatalf("%d %s, %d %s", first.status, first.body, refused.status, refused.body)
	}
	ids := map[string]string{}
	for _, a := range []answer{first, refused} {
		request := a.header.Get("X-Request-Id")
		for _, line := range h.logLines(`"msg":"call"`) {
			if body := parse(t, []byte(line)); at(body, "request_id") == request {
				ids[request], _ = at(body, "trace_id").(string)
			}
		}
		if len(ids[request]) != 32 {
			t.Fatalf("the log line has the trace %q", ids[request])
		}
		if row := h.row(request); at(row, "trace_id") != ids[request] {
			t.Errorf("the row has the trace %v, the log line %s", at(row, "trace_id"), ids[request])
		}
	}
	exposed := h.request("/metrics", "full", "")
	exposed.Header.Set("Accept", "application/openmetrics-text")
	if page := string(h.send(exposed).body); !strings.Contains(page, `# {trace_id="`+ids[first.header.Get("X-Request-Id")]+`"}`) {
		t.Errorf("no exemplar has the trace:\n%s", page)
	}
	upstream := h.upstreamCall(2)
	sent := strings.Join(upstream.Header("Traceparent"), ", ")
	h.stop() // flushes the exporter

	id := ids[first.header.Get("X-Request-Id")]
	if got, want := collected.tree(id), "gateway SERVER \n  chat fast CLIENT \n    POST CLIENT upstream_error\n    POST CLIENT \n"; got != want {
		t.Errorf("spans\n%swant\n%s", got, want)
	}
	if last := hex.EncodeToString(collected.span(t, id, "POST").SpanId); sent != "00-"+id+"-"+last+"-01" {
		t.Errorf("the provider got the trace %q, want %s and %s", sent, id, last)
	}
	if call := collected.span(t, id, "chat fast"); valueOf(call, "gen_ai.request.model") != "fast" || valueOf(call, "gatehouse.request_id") != first.header.Get("X-Request-Id") {
		t.Errorf("%v", call)
	}
	id = ids[refused.header.Get("X-Request-Id")]
	if got, want := collected.tree(id), "gateway SERVER insufficient_scope\n"; got != want {
		t.Errorf("spans\n%swant\n%s", got, want)
	}
	for _, span := range collected.spans {
		for _, taboo := range []string{secretOf("full"), providerKey, "say hello"} {
			if strings.Contains(span.String(), taboo) {
				t.Errorf("a span has %q: %v", taboo, span)
			}
		}
	}
}

// While Caddy sends its last spans, at the end of the process, a collector that does not answer holds it
// up for as long as a service manager allows. Open streams have ended before.
func TestACollectorThatHangsHoldsUpNoStream(t *testing.T) {
	answer := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-answer }))
	defer hangs.Close()
	defer sync.OnceFunc(func() { close(answer) })()
	sendSpansTo(t, hangs.URL)
	h := vacant(t)
	c := h.run(setup{site: tracedSite})
	for range 100 {
		if a := h.post(chatV1, "full", chat("fake/echo", "")); a.status != 200 {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	open := h.open(h.request(chatV1, "full", chat("fake/stall", streaming)))
	open.mustNext()
	begun := time.Now()
	c.signal(syscall.SIGTERM)
	if events, err := open.rest(); err != nil || len(events) == 0 || !strings.Contains(events[len(events)-1].data, "shutting down") {
		t.Errorf("the stream ended with %v, %v", events, err)
	}
	if took := time.Since(begun); took > 10*time.Second { // the exporter takes 30 s
		t.Errorf("the stream ended after %s", took)
	}
	if err := c.cmd.Process.Kill(); err != nil { // as a service manager does
		t.Fatal(err)
	}
	_ = c.wait()
	h.run(setup{})
	if row := h.row(open.resp.Header.Get("X-Request-Id")); at(row, "status") != number("503") || at(row, "code") != "shutting_down" {
		t.Errorf("record %v", row)
	}
}

// The session of a viewer has no request of Caddy's: it goes where that of its address went.
func TestASessionReachesTheCollector(t *testing.T) {
	collected := collectSpans(t)
	h := startVNC(t, setup{site: tracedSite, vnc: newVNCServer(t, asNone).as("one", "")})
	a := h.issue("connect", "one", "")
	w := h.view(a)
	end := w.quietViewer()
	id := h.sessions("one")[0]
	h.release("one")
	wantEnd(t, "the viewer", end)
	h.vncClosed()
	w.leave()
	trace, _ := at(parse(t, []byte(h.logLines(`"msg":"vnc session"`)[0])), "trace_id").(string)
	h.stop()
	session := collected.span(t, trace, "gatehouse.session")
	if len(session.ParentSpanId) > 0 || valueOf(session, "gatehouse.session") != id || valueOf(session, "gatehouse.workstation") != "one" || valueOf(session, "gatehouse.ended") != "released" {
		t.Errorf("%v", session)
	}
	if len(session.Links) != 1 {
		t.Fatalf("%d links", len(session.Links))
	}
	request := collected.span(t, hex.EncodeToString(session.Links[0].TraceId), "gateway")
	if string(request.SpanId) != string(session.Links[0].SpanId) || valueOf(request, "gatehouse.workstation") != "one" {
		t.Errorf("%v", request)
	}
	for _, span := range collected.spans {
		if strings.Contains(strings.ToLower(span.String()), a.token) {
			t.Errorf("a span has the token: %v", span)
		}
	}
}
