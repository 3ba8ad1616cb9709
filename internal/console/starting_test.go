package console

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// startingGateway waits for its start.
type startingGateway struct {
	Gateway // nothing else is asked
	ready   chan struct{}
	retired chan struct{}
}

func (g startingGateway) Ready(ctx context.Context) error {
	select {
	case <-g.ready:
		return nil
	case <-g.retired:
		return errors.New("the gateway did not start")
	case <-ctx.Done():
		return ctx.Err()
	}
}

func TestAPageAnswersWhileTheGatewayStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startingGateway{ready: make(chan struct{}), retired: make(chan struct{})}
		console := &Console{config: Config{Gateway: g, Now: time.Now}}
		w, begun := httptest.NewRecorder(), time.Now()
		if started(&console.config, w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/console/activity?model=m", nil)) || time.Since(begun) != startWait {
			t.Errorf("it has started, after %s", time.Since(begun))
		}
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "2" {
			t.Errorf("%d %v", w.Code, w.Header())
		}
		contains(t, w.Body.String(), `<meta http-equiv="refresh" content="2">`, "opening its database", `href="/console/activity?model=m"`)

		time.AfterFunc(startWait/2, func() { close(g.ready) })
		if w = httptest.NewRecorder(); !started(&console.config, w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/console/", nil)) || w.Body.Len() > 0 {
			t.Error("a page does not wait for a short start")
		}
	})
}

func TestAGatewayThatDidNotStartIsNotWaitedFor(t *testing.T) {
	g := startingGateway{ready: make(chan struct{}), retired: make(chan struct{})}
	close(g.retired)
	w := httptest.NewRecorder()
	console := &Console{config: Config{Gateway: g, Now: time.Now}}
	if started(&console.config, w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/console/", nil)) || w.Code != http.StatusServiceUnavailable {
		t.Errorf("%d", w.Code)
	}
	contains(t, w.Body.String(), "The gateway did not start")
	if page := w.Body.String(); strings.Contains(page, "http-equiv") {
		t.Error("the page is loaded again for ever")
	}
}
