package tests

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testprovider/faults"
)

func TestTheProviderIsCancelledWithinASecondOfTheClient(t *testing.T) {
	h := start(t, setup{secure: true})
	calls := 0
	for _, origin := range []string{h.origin, h.secure} {
		for _, path := range []string{chatV1, chatRouter, responsesV1} {
			for _, more := range []string{"", streaming} {
				where := origin + path + more
				h.upstream.Reset()
				var left time.Time
				if more == "" {
					left = h.disconnectWaiting(origin+path, bodyFor(path, "fake/delayed-headers-60000", more))
				} else {
					s := h.open(h.request(origin+path, "full", bodyFor(path, "fake/stall", more)))
					for said := ""; said != "You said: "; {
						said += textOf(t, s.mustNext())
					}
					left = time.Now()
					s.disconnect()
				}
				list := h.waitUpstream(func(list []faults.Request) bool { return len(list) == 1 && list[0].ClientGone })
				if late := list[0].GoneAt.Sub(left); late > time.Second {
					t.Errorf("%s: the provider was cancelled after %s", where, late)
				}
				calls++
				h.wantDisconnected(where, calls, more)
			}
		}
	}
}

// disconnectWaiting makes a call, disconnects once it has reached the provider, and returns that
// time.
func (h *harness) disconnectWaiting(url, body string) time.Time {
	h.t.Helper()
	r := h.request(url, "full", body)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		resp, err := h.clientFor(r).Do(r.WithContext(ctx))
		if err == nil {
			_ = resp.Body.Close()
		}
		done <- err
	}()
	h.waitUpstream(func(list []faults.Request) bool { return len(list) == 1 && !list[0].BodyReadAt.IsZero() })
	left := time.Now()
	cancel()
	if err := <-done; err == nil {
		h.t.Errorf("%s: there was an answer", url)
	}
	return left
}

// wantDisconnected checks the record of the nth call whose client disconnected.
func (h *harness) wantDisconnected(where string, n int, more string) {
	h.t.Helper()
	var rows []any
	if !eventually(func() bool {
		rows, _ = at(parse(h.t, h.get("/api/v1/activity?status=499", "activity").body), "data").([]any)
		return len(rows) == n
	}) {
		h.t.Fatalf("%s: %d records of disconnected clients, want %d", where, len(rows), n)
	}
	row := rows[0]
	if at(row, "code") != "client_closed_request" || at(row, "stream") != (more != "") || at(row, "provider_name") != "fake" {
		h.t.Errorf("%s: row %v", where, row)
	}
	if lines := h.logLines(at(row, "request_id").(string)); len(lines) == 0 || !strings.Contains(strings.Join(lines, ""), `"code":"client_closed_request"`) {
		h.t.Errorf("%s: log %v", where, lines)
	}
}
