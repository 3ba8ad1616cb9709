package recording

import (
	"errors"
	"net/url"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// Page is a page of the list, newest first.
type Page struct {
	Object string  `json:"object"` // always "list"
	Data   []Entry `json:"data"`
	Next   *string `json:"next_cursor"` // null after the last page
}

// Params are the parameters of Page.
func (*Store) Params() []string {
	return []string{"cursor", "from", "key", "limit", "tenant", "to", "user", "workstation"}
}

// Page returns the page that the parameters ask for, of the tenants that sees lets through. from, to and
// limit are as in the activity. Errors: 400, or that of the disk.
func (s *Store) Page(q url.Values, sees func(tenant string) bool) (Page, error) {
	times, err := activity.ParseFilter(url.Values{"from": q["from"], "to": q["to"], "limit": q["limit"]})
	var wrong *activity.ParamError
	if errors.As(err, &wrong) {
		return Page{}, apierror.New(apierror.InvalidValue, "%v", wrong).WithParam(wrong.Param)
	}
	data, next, err := s.List(Filter{
		Sees: sees, Workstation: q.Get("workstation"), Key: q.Get("key"), User: q.Get("user"),
		From: times.From, To: times.To, Limit: times.Limit, Cursor: q.Get("cursor"),
	})
	page := Page{Object: "list", Data: data}
	if next != "" {
		page.Next = &next
	}
	return page, err
}
