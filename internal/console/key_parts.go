package console

import (
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// limitsOfKey are the limits of a key, and of other subjects that its calls need.
type limitsOfKey struct {
	block

	Rows []limitRow
}

func (l *limitsOfKey) read(v *visit, k *keyRow, subjects ...string) error {
	if !v.has(keys.LimitsRead) {
		l.Needs = keys.LimitsRead.String()
		return nil
	}
	for _, subject := range append([]string{"key:" + k.ID()}, subjects...) {
		var answer struct{ Data []limitRow }
		if err := v.get("/api/v1/limits", url.Values{"subject": {subject}}, &answer); err != nil {
			return err
		}
		l.Rows = append(l.Rows, answer.Data...)
	}
	for i := range l.Rows {
		if r := &l.Rows[i]; r.Kind() == "key" {
			r.Label = k.Name
		}
	}
	return nil
}

// UnderWay is how many calls of the key itself are under way, 0 if no limit counts them.
func (l *limitsOfKey) UnderWay() int64 {
	for i := range l.Rows {
		if r := &l.Rows[i]; r.Kind() == "key" && r.InUse != nil {
			return int64(*r.InUse)
		}
	}
	return 0
}

// toolReach is a pattern of tools that a key has, and the server that it names if the key that looks
// reaches that one too.
type toolReach struct {
	Pattern string
	Server  *serverRow
}

func reachOf(v *visit, patterns []string) (all []toolReach, err error) {
	var servers []serverRow
	if len(patterns) > 0 && v.has(keys.MCPCall) {
		servers, err = readServers(v)
		if err = new(block).lacks(err); err != nil { // without an answer no state is shown
			return nil, err
		}
	}
	for _, p := range patterns {
		reach := toolReach{Pattern: p}
		name, _, _ := strings.Cut(p, "/")
		if at := slices.IndexFunc(servers, func(s serverRow) bool { return s.ID == name }); at >= 0 {
			reach.Server = &servers[at]
		}
		all = append(all, reach)
	}
	return all, nil
}

// desktopsOfKey are the desktops that a key may open, and those that are open with it.
type desktopsOfKey struct {
	block

	Hidden       bool // the gateway has no workstations
	Workstations []string
	More         int
	Sessions     []sessionRow
}

// maxDesktopNames is how many names of workstations a page of a key shows.
const maxDesktopNames = 12

func (d *desktopsOfKey) read(v *visit, k *keyRow) error {
	if !v.has(keys.WorkstationsManage) {
		d.Needs = keys.WorkstationsManage.String()
		return nil
	}
	all, _, err := readWorkstations(v)
	if d.Hidden = isUnknownURL(err); d.Hidden {
		return nil
	}
	if err != nil {
		return err
	}
	for i := range all {
		if all[i].Tenant == k.Tenant && !all[i].IsReleased() {
			d.Workstations = append(d.Workstations, all[i].ID)
		}
	}
	if d.More = max(len(d.Workstations)-maxDesktopNames, 0); d.More > 0 {
		d.Workstations = d.Workstations[:maxDesktopNames]
	}
	d.Sessions, err = openSessions(v, url.Values{"key": {k.ID()}})
	return err
}

// Places are the workstations that are open, each once.
func (d *desktopsOfKey) Places() (names []string) {
	for i := range d.Sessions {
		names = append(names, d.Sessions[i].Workstation)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
