package modelcall

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
)

// traces records spans as Caddy's directive tracing does.
type traces struct {
	exporter *tracetest.InMemoryExporter
	provider *sdktrace.TracerProvider
	end      func() // ends the span that change began
}

func newTraces() *traces {
	exporter := tracetest.NewInMemoryExporter()
	return &traces{exporter: exporter, provider: sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))}
}

// request is a request with a span of the server, and what ends it.
func (s *traces) request(r *http.Request) (*http.Request, func()) {
	ctx, span := s.provider.Tracer("caddy").Start(r.Context(), "SERVER", trace.WithSpanKind(trace.SpanKindServer))
	return r.WithContext(ctx), func() { span.End() }
}

// serve is rig.serve in a trace of its own.
func (s *traces) serve(t testing.TB, r *rig, op *wire.Operation, body string, header ...string) {
	t.Helper()
	req := post(strings.NewReader(body), int64(len(body)))
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	req, end := s.request(req)
	_ = r.serveTo(t, httptest.NewRecorder(), req, op)
	end()
}

// tree shows the spans in the order in which they began, below their parents: the name, the kind and
// an error.
func (s *traces) tree() string {
	spans := s.exporter.GetSpans()
	slices.SortStableFunc(spans, func(a, b tracetest.SpanStub) int { return a.StartTime.Compare(b.StartTime) })
	var b strings.Builder
	var show func(parent trace.SpanID, depth int)
	show = func(parent trace.SpanID, depth int) {
		for _, span := range spans {
			if span.Parent.SpanID() != parent {
				continue
			}
			fmt.Fprintf(&b, "%s%s %s", strings.Repeat("  ", depth), span.Name, span.SpanKind)
			if span.Status.Code == codes.Error {
				fmt.Fprintf(&b, " error=%s%s", attributes(span)["error.type"], span.Status.Description)
			}
			for _, event := range span.Events {
				fmt.Fprintf(&b, " event=%s", event.Name)
				for _, a := range event.Attributes {
					fmt.Fprintf(&b, ",%s", a.Value.String())
				}
			}
			b.WriteByte('\n')
			show(span.SpanContext.SpanID(), depth+1)
		}
	}
	show(trace.SpanID{}, 0)
	return b.String()
}

// span is the attributes of the n-th span of a name, as text.
func (s *traces) span(t testing.TB, name string, n int) map[string]string {
	t.Helper()
	spans := s.exporter.GetSpans()
	slices.SortStableFunc(spans, func(a, b tracetest.SpanStub) int { return a.StartTime.Compare(b.StartTime) })
	for _, span := range spans {
		if span.Name == name {
			if n--; n < 0 {
				return attributes(span)
			}
		}
	}
	t.Fatalf("no span %s:\n%s", name, s.tree())
	return nil
}

func attributes(span tracetest.SpanStub) map[string]string {
	list := map[string]string{}
	for _, a := range span.Attributes {
		list[string(a.Key)] = a.Value.String()
	}
	return list
}

// wantTree compares the tree with lines that are indented by two spaces a level.
func (s *traces) wantTree(t testing.TB, lines ...string) {
	t.Helper()
	if got, want := s.tree(), strings.Join(lines, "\n")+"\n"; got != want {
		t.Errorf("spans\n%swant\n%s", got, want)
	}
}

// wantAttributes compares all attributes of a span with "name=value".
func wantAttributes(t testing.TB, got map[string]string, want ...string) {
	t.Helper()
	var lines []string
	for key, value := range got {
		lines = append(lines, key+"="+value)
	}
	slices.Sort(lines)
	slices.Sort(want)
	if !slices.Equal(lines, want) {
		t.Errorf("attributes\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}

// change gives a request of a fleet a span of the server; end ends it.
func (s *traces) change(r *http.Request) {
	traced, end := s.request(r)
	*r, s.end = *traced, end
}
