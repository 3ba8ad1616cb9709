package keys

import (
	"fmt"
	"strings"
)

// Scope is one permission of a key.
type Scope uint16

// The scopes. The configuration and the 403 use these names.
const (
	ChatWrite            Scope = 1 << iota // chat completions and responses
	ModelsRead                             // model lists
	ActivityRead                           // activity and generation
	ProvidersRead                          // the list of providers and their health
	WorkstationsConnect                    // issue a VNC address
	WorkstationsManage                     // register, release, list sessions
	LimitsRead                             // budgets and rates of the tenant
	KeysManage                             // make and change keys at run time
	MCPCall                                // use MCP servers
	WorkstationsObserve                    // list sessions, and watch them as a guest
	WorkstationsAutomate                   // look at desktops and act on them through the API
	RecordingsRead                         // list, download and replay recordings
	RecordingsManage                       // delete recordings
)

var scopeNames = []struct {
	scope Scope
	name  string
}{
	{ChatWrite, "chat:write"},
	{ModelsRead, "models:read"},
	{ActivityRead, "activity:read"},
	{ProvidersRead, "providers:read"},
	{WorkstationsConnect, "workstations:connect"},
	{WorkstationsManage, "workstations:manage"},
	{LimitsRead, "limits:read"},
	{KeysManage, "keys:manage"},
	{MCPCall, "mcp:call"},
	{WorkstationsObserve, "workstations:observe"},
	{WorkstationsAutomate, "workstations:automate"},
	{RecordingsRead, "recordings:read"},
	{RecordingsManage, "recordings:manage"},
}

// ParseScope parses the name of one scope. The error lists the known ones, so that a typo in a
// configuration never becomes a key with fewer or more rights than intended.
func ParseScope(name string) (Scope, error) {
	known := make([]string, len(scopeNames))
	for i, s := range scopeNames {
		if s.name == name {
			return s.scope, nil
		}
		known[i] = s.name
	}
	return 0, fmt.Errorf("unknown scope %q; known scopes: %s", name, strings.Join(known, ", "))
}

// String lists the names of the scopes in s, separated by spaces.
func (s Scope) String() string {
	var names []string
	for _, n := range scopeNames {
		if s&n.scope != 0 {
			names = append(names, n.name)
		}
	}
	return strings.Join(names, " ")
}
