package console

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// Sender sends a request with an HTTP method, a header and a body to an MCP server.
type Sender = func(ctx context.Context, method string, header http.Header, body []byte) (*http.Response, error)

// Tool is a tool of an MCP server, in its own words.
type Tool struct{ Name, Title, Description string }

// serverRow is an MCP server of GET /v1/mcp.
type serverRow struct {
	ID, URL, Status string
	LastError       string `json:"last_error"`
	Since           time.Time
	InFlight        int64 `json:"in_flight"`
	Day             callsOfDay
}

// serverFailing is one of the states of GET /v1/mcp.
const serverFailing = "failing"

// serverTones are the colours of the states.
var serverTones = map[string]string{"ok": "good", serverFailing: "bad"}

// Tone is the colour of the state.
func (s *serverRow) Tone() string { return serverTones[s.Status] }

// Failing reports whether the last requests to it failed.
func (s *serverRow) Failing() bool { return s.Status == serverFailing }

// Path is the page of the server.
func (s *serverRow) Path() string { return Prefix + "/tools/" + url.PathEscape(s.ID) }

// Why says what its last failure means.
func (s *serverRow) Why() explanation { return explain(s.LastError) }

// DayRows is the list of its requests of the day, FailedRows of those that failed at it, and RefusedRows
// of all that were refused or failed.
func (s *serverRow) DayRows() string     { return rowsOfDay(s.ID, "") }
func (s *serverRow) FailedRows() string  { return rowsOfDay(s.ID, upstreamFailures) }
func (s *serverRow) RefusedRows() string { return rowsOfDay(s.ID, anyCode) }

// toolsPage is what its template shows.
type toolsPage struct {
	Rows []serverRow
	Day  bool // the key may read the activity, so that the day is shown
}

// tools shows the MCP servers that the key reaches.
func tools(v *visit) (err error) {
	p := toolsPage{Day: v.has(keys.ActivityRead)}
	if p.Rows, err = readServers(v); err != nil {
		return err
	}
	if p.Day && len(p.Rows) > 0 {
		byServer, err := readDay(v, "provider", nil)
		if err != nil {
			return err
		}
		for i := range p.Rows {
			p.Rows[i].Day = byServer[p.Rows[i].ID]
		}
	}
	return v.render("tools", &p)
}

func readServers(v *visit) ([]serverRow, error) {
	var answer struct{ Data []serverRow }
	err := v.get("/v1/mcp", nil, &answer)
	return answer.Data, err
}

// serverPage is what its template shows.
type serverPage struct {
	serverRow

	Known   bool // the server has said which tools it has
	Failure string
	Version string // of the protocol
	Tools   []toolRow
	More    int // tools that have no row
	Claude  string
	Codex   string
	ShowDay bool
}

// toolRow is a tool of a server, and its calls of the day.
type toolRow struct {
	Tool

	Rows string // the list of its calls of the day
	Day  callsOfDay
}

const (
	// maxToolRows is how many tools a page shows.
	maxToolRows = 500
	// maxDescription bounds the description of a tool, in bytes: servers write manuals there.
	maxDescription = 600
	// listWithin is how long a page waits for the list of a server.
	listWithin = 15 * time.Second
)

// showServer shows a server with those of its tools that the key may call: it asks the server.
func showServer(v *visit) error {
	servers, err := readServers(v)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(servers, func(s serverRow) bool { return s.ID == v.r.PathValue("server") })
	if at < 0 {
		return &Failure{Status: http.StatusNotFound, Code: "not_found", Message: "there is no such MCP server, or this key may not use it"}
	}
	p := &serverPage{serverRow: servers[at], ShowDay: v.has(keys.ActivityRead)}
	address := ownAddress(v) + p.URL
	p.Claude = "claude mcp add --transport http " + p.ID + " " + shellQuoted(address) + ` --header "Authorization: Bearer $GATEWAY_API_KEY"`
	p.Codex = "codex mcp add " + p.ID + " --url " + shellQuoted(address) + " --bearer-token-env-var GATEWAY_API_KEY"
	if err := p.ask(v); err != nil {
		p.Failure = err.Error()
	}
	if p.ShowDay {
		byTool, err := readDay(v, "model", url.Values{"provider": {p.ID}})
		if err != nil {
			return err
		}
		for i := range p.Tools {
			p.Tools[i].Day = byTool[p.ID+"/"+p.Tools[i].Name]
		}
	}
	page := *v.page
	page.title = "Tools of " + p.ID
	v.page = &page
	return v.render("tools_server", p)
}

// ask asks the server for its tools.
func (p *serverPage) ask(v *visit) error {
	ctx, cancel := context.WithTimeout(v.r.Context(), listWithin)
	defer cancel()
	version, found, err := v.console.config.Tools(ctx, sender(v, p.URL))
	if err != nil {
		return err
	}
	p.Known, p.Version = true, version
	for _, t := range found[:min(len(found), maxToolRows)] {
		if len(t.Description) > maxDescription {
			t.Description = strings.ToValidUTF8(t.Description[:maxDescription], "") + "…"
		}
		p.Tools = append(p.Tools, toolRow{Tool: t, Rows: activityLink(&span{Choice: "24h"}, url.Values{"model": {p.ID + "/" + t.Name}})})
	}
	p.More = len(found) - len(p.Tools)
	return nil
}

// sender sends the requests of an MCP client to a public route, as the key of a visit. The error of
// one that the gateway refuses before it knows the message is a *Failure.
func sender(v *visit, path string) Sender {
	return func(ctx context.Context, method string, header http.Header, body []byte) (*http.Response, error) {
		var sent any
		if body != nil {
			sent = json.RawMessage(body)
		}
		r, err := v.apiRequest(method, path, sent)
		if err != nil {
			return nil, err
		}
		maps.Copy(r.Header, header)
		var w answer
		v.console.config.API(v.caller).ServeHTTP(&w, r.WithContext(ctx))
		if w.over || w.status >= http.StatusBadRequest && !bytes.Contains(w.body.Bytes(), []byte(`"jsonrpc"`)) {
			return nil, w.read(r, nil)
		}
		return &http.Response{StatusCode: w.status, Header: w.Header(), Body: io.NopCloser(&w.body)}, nil
	}
}
