package console

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// The scopes of recordings.
var (
	watchRecordings  = []keys.Scope{keys.RecordingsRead}
	deleteRecordings = []keys.Scope{keys.RecordingsManage}
)

// recordingsPage is what its template shows.
type recordingsPage struct {
	Rows                  []recordingRow
	None                  bool // the gateway records nothing
	Filters               []recordingFilter
	Filtered, Later       bool // by a filter; it is not the first page
	Next                  string
	Tenants, Users, Nodes bool // are shown
	Manages               bool
}

// recordingFilter is a field of the form. It is named as the parameter of the route.
type recordingFilter struct{ Name, Label, Type, Value string }

// recordingRow is a recording of GET /v1/recordings.
type recordingRow struct {
	ID          string
	Workstation string
	Tenant      string
	rowKey
	User, Role, Node string
	Begun            time.Time
	Ended            time.Time
	State            string
	Bytes            int64
	Replay           string // why it is not played, "" if it is
}

// Path is its page.
func (r *recordingRow) Path() string { return Prefix + "/recordings/" + url.PathEscape(r.ID) }

// Badge is its state, "" if it is whole.
func (r *recordingRow) Badge() string {
	if r.State == "complete" {
		return ""
	}
	return r.State
}

// Length is how long it is, in words.
func (r *recordingRow) Length() string {
	if r.Ended.IsZero() {
		return unknown
	}
	return inWords(r.Ended.Sub(r.Begun))
}

// recordings lists recordings.
func recordings(v *visit) error {
	p := recordingsPage{Tenants: v.caller.AllTenants, Manages: v.has(keys.RecordingsManage), Later: v.query.Get("cursor") != ""}
	asked := url.Values{}
	setParam(asked, "cursor", v.query.Get("cursor"))
	for _, f := range []recordingFilter{{"workstation", "Workstation", "", ""}, {"key", "Key", "", ""}, {"user", "User", "", ""}, {"from", "From", "date", ""}, {"to", "To, with that day", "date", ""}} {
		f.Value = strings.TrimSpace(v.query.Get(f.Name))
		p.Filters, p.Filtered = append(p.Filters, f), p.Filtered || f.Value != ""
		setParam(asked, f.Name, f.Value)
	}
	var answer struct {
		Data []recordingRow
		Next string `json:"next_cursor"`
	}
	err := v.get("/v1/recordings", asked, &answer)
	if p.None = isUnknownURL(err); err != nil && !p.None {
		return err
	}
	p.Rows, p.Next = answer.Data, answer.Next
	for i := range p.Rows {
		r := &p.Rows[i]
		r.rowKey.Label = labelOf(v, r.Key)
		p.Users, p.Nodes = p.Users || r.User != "", p.Nodes || r.Node != ""
	}
	return v.render("recordings", &p)
}
