package operator

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

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
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

const tracedSite = "tracing {\nspan gateway\n}\n" + harness.DefaultSite

// Caddy's own directive sends the spans of the gateway to a collector, in one trace with its own.
func TestATraceReachesTheCollector(t *testing.T) {
	collected := collectSpans(t)
	h := harness.Start(t, harness.Setup{
		Providers: strings.Replace(harness.DefaultProviders, "discover off", "discover off\ntrace_context", 1),
		Options:   "alias fast {\ngroup {\ntarget fake/err-500\n}\ngroup {\ntarget fake/echo\n}\n}\n",
		Site:      tracedSite,
	})
	first := h.Client.Post(harness.ChatV1, "full", harness.Chat("fast", ""))
	refused := h.Client.Post(harness.ChatV1, "models", harness.Chat("fast", ""))
	if first.Status != 200 || refused.Status != 403 {
		t.Fatalf("%d %s, %d %s", first.Status, first.Body, refused.Status, refused.Body)
	}
	ids := map[string]string{}
	for _, a := range []harness.Answer{first, refused} {
		request := a.Header.Get("X-Request-Id")
		for _, line := range harness.Log.Lines(`"msg":"call"`) {
			if body := harness.Parse(t, []byte(line)); harness.At(body, "request_id") == request {
				ids[request], _ = harness.At(body, "trace_id").(string)
			}
		}
		if len(ids[request]) != 32 {
			t.Fatalf("the log line has the trace %q", ids[request])
		}
		if row := h.Records.Row(request); harness.At(row, "trace_id") != ids[request] {
			t.Errorf("the row has the trace %v, the log line %s", harness.At(row, "trace_id"), ids[request])
		}
	}
	exposed := h.Client.Request("/metrics", "full", "")
	exposed.Header.Set("Accept", "application/openmetrics-text")
	if page := string(h.Client.Send(exposed).Body); !strings.Contains(page, `# {trace_id="`+ids[first.Header.Get("X-Request-Id")]+`"}`) {
		t.Errorf("no exemplar has the trace:\n%s", page)
	}
	upstream := h.Provider.Request(2)
	sent := strings.Join(upstream.Header("Traceparent"), ", ")
	h.Stop() // flushes the exporter

	id := ids[first.Header.Get("X-Request-Id")]
	if got, want := collected.tree(id), "gateway SERVER \n  chat fast CLIENT \n    POST CLIENT upstream_error\n    POST CLIENT \n"; got != want {
		t.Errorf("spans\n%swant\n%s", got, want)
	}
	if last := hex.EncodeToString(collected.span(t, id, "POST").SpanId); sent != "00-"+id+"-"+last+"-01" {
		t.Errorf("the provider got the trace %q, want %s and %s", sent, id, last)
	}
	if call := collected.span(t, id, "chat fast"); valueOf(call, "gen_ai.request.model") != "fast" || valueOf(call, "gatehouse.request_id") != first.Header.Get("X-Request-Id") {
		t.Errorf("%v", call)
	}
	id = ids[refused.Header.Get("X-Request-Id")]
	if got, want := collected.tree(id), "gateway SERVER insufficient_scope\n"; got != want {
		t.Errorf("spans\n%swant\n%s", got, want)
	}
	for _, span := range collected.spans {
		for _, taboo := range []string{harness.Secret("full"), harness.ProviderKey, "say hello"} {
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
	h := harness.Vacant(t)
	c := h.Run(harness.Setup{Site: tracedSite})
	for range 100 {
		if a := h.Client.Post(harness.ChatV1, "full", harness.Chat("fake/echo", "")); a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	open := h.Client.Open(h.Client.Request(harness.ChatV1, "full", harness.Chat("fake/stall", harness.Streaming)))
	open.MustNext()
	begun := time.Now()
	c.Signal(syscall.SIGTERM)
	if events, err := open.Rest(); err != nil || len(events) == 0 || !strings.Contains(events[len(events)-1].Data, "shutting down") {
		t.Errorf("the stream ended with %v, %v", events, err)
	}
	if took := time.Since(begun); took > 10*time.Second { // the exporter takes 30 s
		t.Errorf("the stream ended after %s", took)
	}
	if err := c.Cmd.Process.Kill(); err != nil { // as a service manager does
		t.Fatal(err)
	}
	_ = c.Wait()
	h.Run(harness.Setup{})
	if row := h.Records.Row(open.Response.Header.Get("X-Request-Id")); harness.At(row, "status") != harness.Number("503") || harness.At(row, "code") != "shutting_down" {
		t.Errorf("record %v", row)
	}
}

// The session of a viewer has no request of Caddy's: it goes where that of its address went.
func TestASessionReachesTheCollector(t *testing.T) {
	collected := collectSpans(t)
	h := harness.StartVNC(t, harness.Setup{Site: tracedSite, VNC: harness.NewVNCServer(t, harness.NoSecurity).As("one", "")})
	a := h.VNC.Issue("connect", "one", "")
	w := h.VNC.View(a)
	end := w.ReadToEnd()
	id := h.VNC.Sessions("one")[0]
	h.VNC.Release("one")
	harness.WantEnd(t, "the viewer", end)
	h.VNC.WaitClosed()
	w.Leave()
	trace, _ := harness.At(harness.Parse(t, []byte(harness.Log.Lines(`"msg":"vnc session"`)[0])), "trace_id").(string)
	h.Stop()
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
		if strings.Contains(strings.ToLower(span.String()), a.Token) {
			t.Errorf("a span has the token: %v", span)
		}
	}
}

func TestACallOfAToolIsInTheSpanOfItsRequest(t *testing.T) {
	collected := collectSpans(t)
	h := harness.Start(t, harness.Setup{
		Keys:    harness.FullKey("") + "key hosted {\nsecret {env.KEY_HOSTED}\nscopes mcp:call\nmcp demo\n}\n",
		Options: "mcp demo {\ndemo\n}\n", Site: tracedSite,
	})
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}`
	if a := h.Client.Post("/mcp/demo", "hosted", call); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	id, _ := harness.At(harness.Parse(t, []byte(harness.Log.Lines(`"msg":"call"`)[0])), "trace_id").(string)
	h.Stop()
	if got, want := collected.tree(id), "gateway SERVER \n"; got != want {
		t.Errorf("spans\n%swant\n%s", got, want)
	}
	if span := collected.span(t, id, "gateway"); valueOf(span, "gen_ai.request.model") != "demo/echo" || valueOf(span, "gatehouse.key") != "hosted" {
		t.Errorf("%v", span)
	}
}
