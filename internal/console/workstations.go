package console

import (
	"cmp"
	"net/url"
	"slices"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// workstationsPage is what its template shows.
type workstationsPage struct {
	Rows              []workstationRow
	None              bool // the gateway has no workstations at all
	Connects, Manages bool
	Tenants           bool // workstations of all tenants are shown
	Form              form // of a registration
	Sources           []sourceList
}

// sourceList says what the list has of a control plane.
type sourceList struct{ Source, List string }

// workstationRow is a workstation of GET /v1/workstations.
type workstationRow struct {
	ID                string `json:"workstation_id"`
	Tenant, Source    string
	State, Address    string
	Sessions, Tokens  int64
	Control           string    // who holds keyboard and pointer: "human", "agent" or ""
	Requests          int64     `json:"help_requested"` // of agents that wait for a person
	Registered        time.Time `json:"registered_at"`
	Released          time.Time `json:"released_at"`
	Automation        string    // what agents may do: "view", "control", or "" for nothing
	Thumbnail         string    `json:"-"` // where a small picture of the desktop is; "" for none
	Own               bool      `json:"-"` // of the key's tenant: others can only be looked at
	Connects, Manages bool      `json:"-"`
}

// path is the path of a page of the workstation.
func (r *workstationRow) path(page string) string {
	return Prefix + "/workstations/" + url.PathEscape(r.ID) + "/" + page
}

// Open is the page that shows the desktop, "" if the key cannot open it.
func (r *workstationRow) Open() string {
	if !r.Own || !r.Connects || r.IsReleased() || r.State == "expired" {
		return ""
	}
	return r.path("desktop")
}

// IsReleased reports whether nobody gets the desktop.
func (r *workstationRow) IsReleased() bool { return r.State == "released" }

// Release is the page that asks before a release, "" if the key cannot release it.
func (r *workstationRow) Release() string {
	if !r.Own || !r.Manages || r.IsReleased() {
		return ""
	}
	return r.path("release")
}

// Restore is where the form goes that takes a release back. A workstation that was registered needs its
// address and credential again: Again is the page with them.
func (r *workstationRow) Restore() string {
	if !r.Own || !r.Manages || !r.IsReleased() || r.Source != "declared" {
		return ""
	}
	return r.path("restore")
}

// Again is the form in which a registered workstation is registered again, "" for others.
func (r *workstationRow) Again() string {
	if !r.Own || !r.Manages || r.Source == "declared" || r.Address == "" {
		return ""
	}
	return Prefix + "/workstations?" + url.Values{"name": {r.ID}, "address": {r.Address}}.Encode() + "#register"
}

// OpenSessions is the page of its sessions, "" if there is nothing to see.
func (r *workstationRow) OpenSessions() string {
	if r.Sessions == 0 {
		return ""
	}
	return Prefix + "/sessions?" + url.Values{"workstation": {r.ID}}.Encode()
}

// Thumbnails are pictures of desktops where somebody is: nobody else's machine is connected to because
// of a list. They are previews: no agent's sessions, and nothing counts or is recorded.
const (
	maxThumbnails  = 12
	thumbnailWidth = "320"
	thumbnailPath  = "/screenshot" // below a workstation
)

// addThumbnails gives rows a picture.
func (p *workstationsPage) addThumbnails() {
	left := maxThumbnails
	for i := range p.Rows {
		r := &p.Rows[i]
		if r.Own && r.Automation != "" && r.Sessions > 0 && !r.IsReleased() && left > 0 {
			r.Thumbnail = r.path("screenshot")
			left--
		}
	}
}

// thumbnail is a small picture of a desktop.
func thumbnail(v *visit) error {
	return v.download(workstationRoute(v.r.PathValue("id"))+"/screenshot", url.Values{"max_width": {thumbnailWidth}}, "")
}

// workstations shows the workstations, and the form that registers one.
func workstations(v *visit) error {
	return showWorkstations(v, form{Values: url.Values{"name": {v.query.Get("name")}, "address": {v.query.Get("address")}}})
}

func showWorkstations(v *visit, f form) error {
	p := workstationsPage{Connects: v.has(keys.WorkstationsConnect), Manages: v.has(keys.WorkstationsManage), Tenants: v.caller.AllTenants, Form: f}
	var err error
	p.Rows, p.Sources, err = readWorkstations(v)
	if p.None = isUnknownURL(err); err != nil && !p.None {
		return err
	}
	slices.SortStableFunc(p.Rows, func(x, y workstationRow) int { // one's own first
		return cmp.Or(cmp.Compare(rankOwn(x.Own), rankOwn(y.Own)), cmp.Compare(x.Tenant, y.Tenant), cmp.Compare(x.ID, y.ID))
	})
	if v.has(keys.WorkstationsAutomate) {
		p.addThumbnails()
	}
	return showForm(v, &p.Form, "workstations", &p)
}

func readWorkstations(v *visit) ([]workstationRow, []sourceList, error) {
	var answer struct {
		Data    []workstationRow
		Sources []sourceList
	}
	err := v.get("/v1/workstations", nil, &answer)
	for i := range answer.Data {
		r := &answer.Data[i]
		r.Own, r.Connects, r.Manages = r.Tenant == v.caller.Tenant, v.has(keys.WorkstationsConnect), v.has(keys.WorkstationsManage)
	}
	return answer.Data, answer.Sources, err
}

func rankOwn(own bool) int {
	if own {
		return 0
	}
	return 1
}

// register puts a workstation in service.
func register(v *visit) error {
	f, err := readForm(v)
	if err != nil {
		return err
	}
	name := f.Value("name")
	if name == "" {
		f.Failed = &Failure{Status: 400, Code: "missing_required_parameter", Message: "the name is missing", Param: "workstation_id"}
		return showWorkstations(v, f)
	}
	body := map[string]string{"address": f.Value("address")}
	if credential := f.Value("credential"); credential != "" {
		body["credential"] = credential
	}
	if err := f.refused(v.send("PUT", workstationRoute(name), body, nil)); err != nil {
		return err
	}
	if f.Failed != nil {
		return showWorkstations(v, f)
	}
	return v.redirect(Prefix+"/workstations", "registered")
}

var release = loss{
	method: "DELETE", done: "released", after: pageAt("/workstations"),
	route: func(v *visit) string { return workstationRoute(v.r.PathValue("id")) },
	ask:   askRelease,
}

func askRelease(v *visit) (confirmation, error) {
	id := v.r.PathValue("id")
	var view workstationRow
	if err := v.get(workstationRoute(id), nil, &view); err != nil {
		return confirmation{}, err
	}
	c := confirmation{
		Title: "Release " + id + "?", Text: "Nobody gets this desktop any more until it is put in service again.",
		Button: "Release " + id, Back: Prefix + "/workstations",
	}
	if view.Sessions > 0 {
		c.Lost = append(c.Lost, plural(view.Sessions, "open session")+": whoever sits there is disconnected within a second.")
	}
	if view.Tokens > 0 {
		c.Lost = append(c.Lost, "The VNC addresses that were issued and not used yet, or can be used again ("+count(view.Tokens)+"): nobody connects with them any more.")
	}
	if len(c.Lost) == 0 {
		c.Text += " Nobody has it open now, and no VNC address is live."
	}
	if view.Source != "declared" && view.Address == "" {
		c.Text = "Whoever has this desktop now loses it. Its source is asked who gets it next."
		c.Stays = "The source " + view.Source + " still has the workstation."
	} else if view.Source != "declared" {
		c.Stays = "To put it in service again, register it again with its address and credential."
	} else {
		c.Stays = "The list has a button that puts it in service again."
	}
	return c, nil
}

// restore takes the release of a declared workstation back.
func restore(v *visit) error {
	if err := v.send("PUT", workstationRoute(v.r.PathValue("id")), struct{}{}, nil); err != nil {
		return err
	}
	return v.redirect(Prefix+"/workstations", "restored")
}

func workstationRoute(id string) string { return "/v1/workstations/" + url.PathEscape(id) }
