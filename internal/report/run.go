package report

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// Run returns the rows of a trace, of all tenants, as [Activity] does but the first one first. Older
// reports whether there are earlier ones than the newest [activity.MaxLimit].
func Run(ctx context.Context, log activity.Log, trace string) (rows []json.RawMessage, older bool, err error) {
	answer, err := Activity(ctx, log, Query{
		Values: url.Values{"trace_id": {trace}, "limit": {strconv.Itoa(activity.MaxLimit)}}, See: keys.EveryTenant,
	})
	if err != nil {
		return nil, false, err
	}
	var page struct {
		Data []json.RawMessage
		Next string `json:"next_cursor"`
	}
	err = json.Unmarshal(answer.JSON, &page)
	slices.Reverse(page.Data)
	return page.Data, page.Next != "", err
}
