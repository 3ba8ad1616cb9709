package api

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestTheProviderIsCancelledWithinASecondOfTheClient(t *testing.T) {
	h := harness.Start(t, harness.Setup{Secure: true})
	calls := 0
	for _, origin := range []string{h.Client.Origin, h.Client.Secure} {
		for _, path := range []string{harness.ChatV1, harness.ChatRouter, harness.ResponsesV1} {
			for _, more := range []string{"", harness.Streaming} {
				where := origin + path + more
				h.Provider.Fake.Reset()
				var left time.Time
				if more == "" {
					left = disconnectWaiting(h, origin+path, harness.Body(path, "fake/delayed-headers-60000", more))
				} else {
					s := h.Client.Open(h.Client.Request(origin+path, "full", harness.Body(path, "fake/stall", more)))
					for said := ""; said != "You said: "; {
						said += textOf(t, s.MustNext())
					}
					left = time.Now()
					s.Disconnect()
				}
				list := h.Provider.Wait(func(list []faults.Request) bool { return len(list) == 1 && list[0].ClientGone })
				if late := list[0].GoneAt.Sub(left); late > time.Second {
					t.Errorf("%s: the provider was cancelled after %s", where, late)
				}
				calls++
				wantDisconnected(h, where, calls, more)
			}
		}
	}
}

// disconnectWaiting makes a call, disconnects once it has reached the provider, and returns that
// time.
func disconnectWaiting(h *harness.Gateway, url, body string) time.Time {
	h.T.Helper()
	r := h.Client.Request(url, "full", body)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		resp, err := h.Client.For(r).Do(r.WithContext(ctx))
		if err == nil {
			_ = resp.Body.Close()
		}
		done <- err
	}()
	h.Provider.Wait(func(list []faults.Request) bool { return len(list) == 1 && !list[0].BodyReadAt.IsZero() })
	left := time.Now()
	cancel()
	if err := <-done; err == nil {
		h.T.Errorf("%s: there was an answer", url)
	}
	return left
}

// wantDisconnected checks the record of the nth call whose client disconnected.
func wantDisconnected(h *harness.Gateway, where string, n int, more string) {
	h.T.Helper()
	var rows []any
	if !harness.Eventually(func() bool {
		rows, _ = harness.At(harness.Parse(h.T, h.Client.Get("/api/v1/activity?status=499", "activity").Body), "data").([]any)
		return len(rows) == n
	}) {
		h.T.Fatalf("%s: %d records of disconnected clients, want %d", where, len(rows), n)
	}
	row := rows[0]
	if harness.At(row, "code") != "client_closed_request" || harness.At(row, "stream") != (more != "") || harness.At(row, "provider_name") != "fake" {
		h.T.Errorf("%s: row %v", where, row)
	}
	if lines := harness.Log.Lines(harness.At(row, "request_id").(string)); len(lines) == 0 || !jsontest.Has(h.T, strings.Join(lines, ""), `{"code":"client_closed_request"}`) {
		h.T.Errorf("%s: log %v", where, lines)
	}
}
