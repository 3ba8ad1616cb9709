package console

import (
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// page is one row of the table of pages.
type page struct {
	method string
	path   string // below Prefix, a pattern of [net/http.ServeMux]
	title  string
	// menu is its name in the menu, below the heading group; "" is a page that is not there.
	menu, group string
	// scopes: the key needs one of these; none: any key.
	scopes []keys.Scope
	live   bool // it has parts that are read again
	serve  func(*visit) error
}

// The scopes of groups of pages.
var (
	manageKeys     = []keys.Scope{keys.KeysManage}
	manageDesktops = []keys.Scope{keys.WorkstationsManage}
	seeDesktops    = []keys.Scope{keys.WorkstationsManage, keys.WorkstationsConnect}
)

// pages is the one table. It is set at the start because pages show the menu, which is made of it.
var pages []page

func init() {
	pages = []page{
		{method: "POST", path: "/theme", title: "Colours", serve: setTheme},
		{method: "GET", path: "/{$}", title: "Overview", menu: "Overview", group: "Traffic", live: true, serve: overview},
		{method: "GET", path: "/activity", title: "Activity", menu: "Activity", group: "Traffic", scopes: []keys.Scope{keys.ActivityRead}, live: true, serve: activityList},
		{method: "GET", path: "/activity/{id}", title: "Request", scopes: []keys.Scope{keys.ActivityRead}, serve: activityEntry},
		{method: "GET", path: "/runs/{trace}", title: "Run", scopes: []keys.Scope{keys.ActivityRead}, serve: showRun},
		{method: "GET", path: "/activity.csv", title: "Activity", scopes: []keys.Scope{keys.ActivityRead}, serve: activityCSV},
		{method: "GET", path: "/usage", title: "Usage", menu: "Usage", group: "Traffic", scopes: []keys.Scope{keys.ActivityRead}, serve: usage},
		{method: "GET", path: "/latency", title: "Latency", menu: "Latency", group: "Traffic", scopes: []keys.Scope{keys.ActivityRead}, serve: latency},
		{method: "GET", path: "/refusals", title: "Refusals and failures", menu: "Refusals", group: "Traffic", scopes: []keys.Scope{keys.ActivityRead}, serve: refusals},
		{method: "GET", path: "/usage.csv", title: "Usage", scopes: []keys.Scope{keys.ActivityRead}, serve: usageFile},
		{method: "GET", path: "/workstations/{id}/desktop", title: "Desktop", scopes: connects, serve: showDesktop},
		{method: "POST", path: "/workstations/{id}/desktop", scopes: connects, serve: orderDesktop},
		{method: "GET", path: "/workstations/{id}/control", scopes: connects, serve: readDesk},
		{method: "POST", path: "/workstations/{id}/control", scopes: connects, serve: changeDesk},
		{method: "POST", path: "/workstations/{id}/address", title: "Address of", scopes: connects, serve: showAddress},
		{method: "GET", path: socketPath, scopes: connects, serve: desktopSocket},
		{method: "GET", path: "/workstations", title: "Workstations", menu: "Workstations", group: "Desktops", scopes: seeDesktops, live: true, serve: workstations},
		{method: "GET", path: "/workstations/{id}" + thumbnailPath, scopes: []keys.Scope{keys.WorkstationsAutomate}, serve: thumbnail},
		{method: "POST", path: "/workstations", title: "Workstations", scopes: manageDesktops, serve: register},
		{method: "GET", path: "/workstations/{id}/release", title: "Release a workstation", scopes: manageDesktops, serve: release.serve},
		{method: "POST", path: "/workstations/{id}/release", title: "Release a workstation", scopes: manageDesktops, serve: release.serve},
		{method: "POST", path: "/workstations/{id}/restore", title: "Put a workstation in service", scopes: manageDesktops, serve: restore},
		{method: "GET", path: "/sessions", title: "Open sessions", menu: "Sessions", group: "Desktops", scopes: seeDesktops, live: true, serve: sessions},
		{method: "POST", path: "/sessions/{id}/guests", title: "Address for a guest at", scopes: connects, serve: showGuestAddress},
		{method: "GET", path: "/sessions/{id}/end", title: "End a session", scopes: seeDesktops, serve: endSession.serve},
		{method: "POST", path: "/sessions/{id}/end", title: "End a session", scopes: seeDesktops, serve: endSession.serve},
		{method: "GET", path: "/recordings", title: "Recordings", menu: "Recordings", group: "Desktops", scopes: watchRecordings, serve: recordings},
		{method: "GET", path: "/recordings/{id}", title: "Recording", scopes: watchRecordings, serve: showRecording},
		{method: "GET", path: "/recordings/{id}/file", title: "Recording", scopes: watchRecordings, serve: recordingFile},
		{method: "GET", path: "/recordings/{id}/fbs", title: "Recording", scopes: watchRecordings, serve: recordingFBS},
		{method: "GET", path: "/recordings/{id}/socket", scopes: watchRecordings, serve: replaySocket},
		{method: "GET", path: "/recordings/{id}/delete", title: "Delete a recording", scopes: deleteRecordings, serve: deleteRecording.serve},
		{method: "POST", path: "/recordings/{id}/delete", title: "Delete a recording", scopes: deleteRecordings, serve: deleteRecording.serve},
		{method: "GET", path: "/models", title: "Models", menu: "Models", group: "Gateway", scopes: []keys.Scope{keys.ModelsRead}, serve: models},
		{method: "GET", path: "/try", title: "Try a model", menu: "Try it", group: "Gateway", scopes: []keys.Scope{keys.ChatWrite}, serve: showTry},
		{method: "POST", path: "/try", title: "Try a model", scopes: []keys.Scope{keys.ChatWrite}, serve: try},
		{method: "GET", path: "/limits", title: "Limits and budgets", menu: "Limits", group: "Gateway", live: true, serve: limits},
		{method: "GET", path: "/providers", title: "Providers", menu: "Providers", group: "Gateway", scopes: []keys.Scope{keys.ProvidersRead}, live: true, serve: providers},
		{method: "GET", path: "/tools", title: "Tools", menu: "Tools", group: "Gateway", scopes: []keys.Scope{keys.MCPCall}, live: true, serve: tools},
		{method: "GET", path: "/tools/{server}", title: "Tools", scopes: []keys.Scope{keys.MCPCall}, serve: showServer},
		{method: "GET", path: "/keys", title: "Keys", menu: "Keys", group: "Gateway", scopes: manageKeys, serve: listKeys},
		{method: "GET", path: "/keys/new", title: "Issue a key", scopes: manageKeys, serve: newKey},
		{method: "POST", path: "/keys/new", title: "Issue a key", scopes: manageKeys, serve: issueKey},
		{method: "GET", path: "/keys/{key}", title: "Key", scopes: manageKeys, serve: showKey},
		{method: "GET", path: "/keys/{key}/limits", title: "Change limits", scopes: manageKeys, serve: askLimits},
		{method: "POST", path: "/keys/{key}/limits", title: "Change limits", scopes: manageKeys, serve: changeLimits},
		{method: "GET", path: "/keys/{key}/rotate", title: "Rotate a key", scopes: manageKeys, serve: askRotate},
		{method: "POST", path: "/keys/{key}/rotate", title: "Rotate a key", scopes: manageKeys, serve: rotateKey},
		{method: "POST", path: "/keys/{key}/enable", title: "Enable a key", scopes: manageKeys, serve: enableKey},
		{method: "GET", path: "/keys/{key}/disable", title: "Disable a key", scopes: manageKeys, serve: disableKey.serve},
		{method: "POST", path: "/keys/{key}/disable", title: "Disable a key", scopes: manageKeys, serve: disableKey.serve},
		{method: "GET", path: "/keys/{key}/delete", title: "Delete a key", scopes: manageKeys, serve: deleteKey.serve},
		{method: "POST", path: "/keys/{key}/delete", title: "Delete a key", scopes: manageKeys, serve: deleteKey.serve},
		{method: "GET", path: "/you", title: "Signed in", serve: showYou},
		{method: "GET", path: "/about", title: "About this gateway", menu: "About", group: "Gateway", serve: about},
	}
}

// allows reports whether the key of a visit may see a page.
func (p *page) allows(key *keys.Key) bool {
	for _, scope := range p.scopes {
		if key.Has(scope) {
			return true
		}
	}
	return len(p.scopes) == 0
}

// menuGroup is a heading of the menu and the pages below it.
type menuGroup struct {
	Name  string
	Items []menuItem
}

type menuItem struct {
	Name, Path string
	Current    bool
}

// menu returns the pages that the key may see, in the order of the table.
func (v *visit) menu() (groups []menuGroup) {
	for i := range pages {
		p := &pages[i]
		if p.menu == "" || !p.allows(v.caller.Key) {
			continue
		}
		if len(groups) == 0 || groups[len(groups)-1].Name != p.group {
			groups = append(groups, menuGroup{Name: p.group})
		}
		last := &groups[len(groups)-1]
		last.Items = append(last.Items, menuItem{p.menu, Prefix + strings.TrimSuffix(p.path, "{$}"), v.page.menu == p.menu})
	}
	return groups
}
