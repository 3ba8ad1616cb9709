package handlers

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

// An open page asks every few seconds, also for desktops where there are none.
func TestWhatAPageReadsLeavesNoRowAndNoLine(t *testing.T) {
	core, log := observer.New(zapcore.InfoLevel)
	g := startGateway(t, setup{Logger: zap.New(core)})
	caller, err := g.Authenticate(secretOf("full"), "")
	must(t, err)
	ask := func(method, path string) int {
		w := httptest.NewRecorder()
		public(g, caller).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody))
		return w.Code
	}
	log.TakeAll()
	for path, want := range map[string]int{"/v1/models": 200, "/v1/sessions": 404, "/api/v1/activity?from=never": 400} {
		if got := ask("GET", path); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	if left, lines := rows(t, g), log.FilterMessage("call").All(); len(left) > 0 || len(lines) > 0 {
		t.Errorf("reads have left the rows %v and the lines %v", left, lines)
	}
	if got := ask("DELETE", "/v1/sessions/x"); got != 404 {
		t.Errorf("an action: %d", got)
	}
	if left, lines := rows(t, g), log.FilterMessage("call").Len(); len(left) != 1 || lines != 1 {
		t.Errorf("an action has left %d rows and %d lines, want one of each", len(left), lines)
	}
}
