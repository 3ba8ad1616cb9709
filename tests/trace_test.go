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
	"testing"

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

// Caddy's own directive sends the spans of the gateway to a collector, in one trace with its own.
func TestATraceReachesTheCollector(t *testing.T) {
	collected := new(spanCollector)
	server := httptest.NewServer(collected)
	t.Cleanup(server.Close)
	t.Setenv("OTEL_TRACES_EXPORTER", "otlp")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	h := start(t, setup{
		providers: strings.Replace(defaultProviders, "discover off", "discover off\ntrace_context", 1),
		options:   "alias fast {\ngroup {\ntarget fake/err-500\n}\ngroup {\ntarget fake/echo\n}\n}\n",
		site:      "tracing {\nspan gateway\n}\n" + defaultSite,
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
