package keys

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
)

// tools are the lists of tools of a key and of its tenant. A key calls only tools that each of them has.
type tools struct {
	bounds bounds
	some   bool // the key calls some tools at all
}

// AllowsTool reports whether the key may call a tool of an MCP server: its own list and that of its
// tenant must both have it. The server's own list is asked apart.
func (k *Key) AllowsTool(server, tool string) bool {
	return k.tools.some && k.tools.bounds.match(server+"/"+tool)
}

// AllowsServer reports whether the key may use an MCP server: its own list and that of its tenant must
// both name it. Resources and prompts of the server need no more than this.
func (k *Key) AllowsServer(name string) bool {
	return k.tools.some && k.tools.bounds.matchSome(name+"/")
}

// LeavesTool reports whether the lists of the key and of its tenant leave it a tool that it may also use by
// another right, a scope for instance. A list that names none of these servers, all of which have the tool,
// takes nothing away.
func LeavesTool(k *Key, servers []string, server, tool string) bool {
	return !slices.ContainsFunc(k.tools.bounds, func(l pattern.List) bool {
		names := slices.ContainsFunc(servers, func(s string) bool { return l.MatchesSome(s + "/") })
		return names && !l.Match(server+"/"+tool)
	})
}

// ValidTools returns an error for a pattern of tools that does not begin with the name of a server: a
// key reaches only servers that it names. Known reports whether there is a server; nil: any.
func ValidTools(patterns []string, known func(server string) bool) error {
	for _, p := range patterns {
		if err := pattern.Valid(p); err != nil {
			return err
		}
		server, tool, ok := strings.Cut(p, "/")
		switch {
		case !ok || server == "" || tool == "" || strings.Contains(server, "*"):
			return fmt.Errorf("%q: want the name of a server, a slash and a pattern of its tools, such as github/read_*", p)
		case known != nil && !known(server):
			return fmt.Errorf("there is no server %q", server)
		}
	}
	return nil
}
