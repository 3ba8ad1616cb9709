package tracing

import (
	"strings"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// A session may end under a configuration that has no tracing any more.
func TestNoSpanBeginsAfterTheProvidersEnd(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	_, request := provider.Tracer("caddy").Start(t.Context(), "POST")
	origin := OriginOf(request)
	if span := origin.Start(SpanSession, time.Now()); span == nil {
		t.Fatal("no span")
	}
	if err := provider.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if span := origin.Start(SpanSession, time.Now()); span != nil {
		t.Errorf("%v", span)
	}
}

func TestARequestThatIsNotRecordedIsNoOrigin(t *testing.T) {
	if origin := OriginOf(trace.SpanFromContext(t.Context())); origin != nil || origin.Start(SpanSession, time.Now()) != nil {
		t.Errorf("%v", origin)
	}
}

func TestTextIsBoundedAndValid(t *testing.T) {
	for text, want := range map[string]string{
		"short": "short", "": "", strings.Repeat("a", 300): strings.Repeat("a", 200), "bad\xff": "bad\uFFFD",
		strings.Repeat("a", 199) + "\u00e9": strings.Repeat("a", 199) + "\uFFFD",
	} {
		if got := Text(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
