package console

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// sessionsPage is what its template shows.
type sessionsPage struct {
	Rows     []sessionRow
	None     bool // the gateway has no workstations
	Own      bool // the key sees only its own
	Tenants  bool // sessions of all tenants are shown
	Nodes    bool // there are several gateways
	Users    bool // some sessions have a user
	Filter   url.Values
	Filtered bool
}

// sessionRow is a session of GET /v1/sessions.
type sessionRow struct {
	ID          string `json:"session_id"`
	Workstation string `json:"workstation_id"`
	Tenant      string
	rowKey
	User, Node string
	Token      string // its name
	Viewer     string
	Security   string
	ViewOnly   bool      `json:"view_only"`
	Shared     bool      `json:"shared"`
	Started    time.Time `json:"started_at"`
	Until      time.Time `json:"until"`
	Up         int64     `json:"bytes_up"`
	Down       int64     `json:"bytes_down"`
	Rules      sessionRules
	Role       string // "guest", "agent", or "" of all others
	Joined     string // the session that a guest watches
	GuestOf    string `json:"label"` // whom the guest was invited as
	Guests     int
	Holds      bool `json:"holds_input"`
	invites    bool // the key may let guests in, as far as its scopes go
}

// sessionRules are those of GET /v1/sessions that a list shows.
type sessionRules struct {
	ClipboardIn  string `json:"clipboard_in"`
	ClipboardOut string `json:"clipboard_out"`
	IdleTimeout  int64  `json:"idle_timeout"` // seconds
	Bandwidth    int64  `json:"bandwidth"`    // bits a second
}

// Words are the rules of a session that people do not see elsewhere in its row.
func (r *sessionRules) Words() (words []string) {
	switch {
	case r.ClipboardIn == "off" && r.ClipboardOut == "off":
		words = append(words, "no clipboard")
	case r.ClipboardIn == "off":
		words = append(words, "no clipboard in")
	case r.ClipboardOut == "off":
		words = append(words, "no clipboard out")
	}
	if r.Bandwidth > 0 {
		words = append(words, fmt.Sprintf("%g Mbit/s", float64(r.Bandwidth)/1e6))
	}
	if r.IdleTimeout > 0 {
		words = append(words, "idle for "+inWords(time.Duration(r.IdleTimeout)*time.Second))
	}
	return words
}

// Watched is how many guests the session has, in words.
func (r *sessionRow) Watched() string {
	if r.Guests == 1 {
		return "1 guest"
	}
	return fmt.Sprintf("%d guests", r.Guests)
}

// Host is the viewer's network address without its port.
func (r *sessionRow) Host() string {
	host, _, ok := strings.Cut(r.Viewer, "]:")
	if ok {
		return strings.TrimPrefix(host, "[")
	}
	host, _, _ = strings.Cut(r.Viewer, ":")
	return host
}

// Invites reports whether the key may let a guest watch the session.
func (r *sessionRow) Invites() bool { return r.invites && r.Role == "" }

// Invite is where an address for a guest is asked for.
func (r *sessionRow) Invite() string { return Prefix + "/sessions/" + url.PathEscape(r.ID) + "/guests" }

// End is the page that asks before the session is ended.
func (r *sessionRow) End() string { return Prefix + "/sessions/" + url.PathEscape(r.ID) + "/end" }

// showGuestAddress shows a new address for a guest who watches an open session.
func showGuestAddress(v *visit) error {
	var made issued
	err := v.send(http.MethodPost, "/v1/sessions/"+url.PathEscape(v.r.PathValue("id"))+"/guests", map[string]any{"view_only": true}, &made)
	if err != nil {
		return err
	}
	v.page = &page{title: v.page.title + " " + made.Workstation, menu: "Sessions"}
	return v.render("address", desktopPage{Name: made.Workstation, Address: made.URL, Expires: made.Expires})
}

// sessionFilters are the parameters that the page and the route have in common.
var sessionFilters = []string{"workstation", "key", "tenant"}

// sessions shows the desktops that are open.
func sessions(v *visit) error {
	p := sessionsPage{Filter: url.Values{}, Own: !v.has(keys.WorkstationsManage), Tenants: v.caller.AllTenants}
	for _, name := range sessionFilters {
		if value := strings.TrimSpace(v.query.Get(name)); value != "" {
			p.Filter.Set(name, value)
			p.Filtered = true
		}
	}
	all, err := openSessions(v, p.Filter)
	if p.None = isUnknownURL(err); err != nil && !p.None {
		return err
	}
	p.Rows = all
	for i := range all {
		all[i].rowKey = named(v, all[i].Key)
		own := all[i].Key == v.caller.Name && all[i].Tenant == v.caller.Tenant
		all[i].invites = v.has(keys.WorkstationsConnect) && (own || v.has(keys.WorkstationsObserve))
		p.Nodes = p.Nodes || all[i].Node != ""
		p.Users = p.Users || all[i].User != ""
	}
	return v.render("sessions", &p)
}

func openSessions(v *visit, filter url.Values) ([]sessionRow, error) {
	var answer struct{ Data []sessionRow }
	err := v.get("/v1/sessions", filter, &answer)
	return answer.Data, err
}

var endSession = loss{
	method: http.MethodDelete, done: "ended", after: pageAt("/sessions"),
	route: func(v *visit) string { return "/v1/sessions/" + url.PathEscape(v.r.PathValue("id")) },
	ask: func(v *visit) (confirmation, error) {
		all, err := openSessions(v, nil)
		if err != nil {
			return confirmation{}, err
		}
		at := slices.IndexFunc(all, func(r sessionRow) bool { return r.ID == v.r.PathValue("id") })
		if at < 0 {
			return confirmation{}, &Failure{Status: http.StatusNotFound, Code: "not_found", Message: "this session has ended already, or this key may not see it"}
		}
		r := &all[at]
		who := "key " + keyName(v, r.Key)
		if r.User != "" {
			who = r.User + " (" + who + ")"
		}
		return confirmation{
			Title: "End the session at " + r.Workstation + "?",
			Text:  "The viewer at " + r.Host() + " is disconnected within a second.",
			Lost: []string{
				"The session of " + who + ", open for " + inWords(v.now.Sub(r.Started)) + ".",
				"Its VNC address: the viewer cannot come back with it.",
			},
			Stays:  "The desktop itself, and what runs on it. With another address the key can connect again.",
			Button: "End the session", Back: Prefix + "/sessions",
		}, nil
	},
}
