package console

import (
	"context"
	"errors"
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
	State, Reason    string
	Bytes            int64
	Replay           bool // the gateway has a key for it
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
		r.rowKey = named(v, r.Key)
		p.Users, p.Nodes = p.Users || r.User != "", p.Nodes || r.Node != ""
	}
	return v.render("recordings", &p)
}

// recordingPage is what the page of a recording shows.
type recordingPage struct {
	Row     recordingRow
	Plays   bool // the gateway can read it
	Manages bool
}

func recordingOf(v *visit) (r recordingRow, err error) {
	err = v.get(recordingRoute(v), nil, &r)
	var failure *Failure
	if errors.As(err, &failure) && failure.Status == http.StatusNotFound {
		failure.Message += ". In a cluster without a common folder it is at the gateway that had the session"
	}
	r.rowKey = named(v, r.Key)
	return r, err
}

// recordingRoute is the public route of a recording.
func recordingRoute(v *visit) string { return "/v1/recordings/" + url.PathEscape(v.r.PathValue("id")) }

func showRecording(v *visit) error {
	r, err := recordingOf(v)
	if err != nil {
		return err
	}
	v.page = &page{title: "Recording of " + r.Workstation, menu: "Recordings"}
	return v.render("recording", &recordingPage{Row: r, Plays: r.Replay, Manages: v.has(keys.RecordingsManage)})
}

// recordingFile saves the recording as it is, encrypted.
func recordingFile(v *visit) error {
	return v.download(recordingRoute(v)+"/file", nil, v.r.PathValue("id")+".ghrec")
}

// recordingFBS saves what the recording shows.
func recordingFBS(v *visit) error {
	return v.download(recordingRoute(v)+"/fbs", nil, v.r.PathValue("id")+".fbs")
}

// replaySocket plays a recording to its page, until the session of the console ends. Watching is no use
// of that.
func replaySocket(v *visit) error {
	config := &v.console.config
	if !config.OwnPage(v.r) {
		return &Failure{Status: http.StatusForbidden, Code: "forbidden", Message: "the page is of another origin"}
	}
	ctx, end := context.WithCancel(v.r.Context())
	defer end()
	defer config.Gateway.Sessions().OnEnd(v.session, config.Life, func() time.Time { return time.Time{} }, end)()
	defer keepSignedIn(ctx, config, v.session)()
	r, err := v.apiRequest(http.MethodGet, recordingRoute(v)+"/socket", nil)
	if err != nil {
		return err
	}
	for _, name := range []string{"Connection", "Upgrade", "Sec-Websocket-Version", "Sec-Websocket-Key", "Sec-Websocket-Protocol"} {
		r.Header[name] = v.r.Header[name]
	}
	config.API(v.caller).ServeHTTP(v.w, r.WithContext(ctx))
	return nil
}

var deleteRecording = loss{
	method: http.MethodDelete, route: recordingRoute, done: "erased", after: pageAt("/recordings"),
	ask: func(v *visit) (confirmation, error) {
		r, err := recordingOf(v)
		return confirmation{
			Title:  "Delete the recording of " + r.Workstation + "?",
			Text:   "Nobody can see again what this session showed.",
			Lost:   []string{"The recording of the key " + r.ShownKey() + ", begun " + r.Begun.UTC().Format("2 Jan 2006 15:04") + " UTC, " + r.Length() + " long."},
			Stays:  "The row of the session in the activity.",
			Button: "Delete the recording", Back: r.Path(),
		}, err
	},
}
