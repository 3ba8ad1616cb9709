package tests

import (
	"context"
	"net/url"

	"github.com/gatehouse-proxy/gatehouse/internal/testprovider/faults"
)

// row is the call's record as GET /api/v1/activity shows it.
func (h *harness) row(requestID string) any {
	h.t.Helper()
	a := h.get("/api/v1/activity?request_id="+url.QueryEscape(requestID), "activity")
	if a.status != 200 {
		h.t.Fatalf("activity: %d %s", a.status, a.body)
	}
	list := at(parse(h.t, a.body), "data")
	if rows, _ := list.([]any); len(rows) != 1 {
		h.t.Fatalf("%d rows for %s: %s", len(rows), requestID, a.body)
	}
	return at(list, 0)
}

// rowSoon is the record of a call whose end the client does not see.
func (h *harness) rowSoon(query string) any {
	h.t.Helper()
	var list any
	if !eventually(func() bool {
		list = at(parse(h.t, h.get("/api/v1/activity?"+query, "activity").body), "data")
		return at(list, 0) != nil
	}) {
		h.t.Fatalf("no row for %s", query)
	}
	return at(list, 0)
}

// upstreamCall is the newest request that the provider received, once there are n.
func (h *harness) upstreamCall(n int) faults.Request {
	h.t.Helper()
	list := h.waitUpstream(func(list []faults.Request) bool { return len(list) >= n })
	return list[len(list)-1]
}

// waitUpstream waits until done returns true for the provider's record.
func (h *harness) waitUpstream(done func([]faults.Request) bool) []faults.Request {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), waitLimit)
	defer cancel()
	list, err := h.upstream.Wait(ctx, done)
	if err != nil {
		h.t.Fatalf("the provider's record did not get there: %d requests: %+v", len(list), list)
	}
	return list
}
