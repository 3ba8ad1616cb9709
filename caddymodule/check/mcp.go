package check

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/offline"
	"github.com/gatehouse-proxy/gatehouse/internal/terminal"
)

// dialMCP asks each MCP server for its tools. None is called.
func dialMCP(c *inspected) []Finding {
	found := make([]Finding, len(c.MCP))
	var running sync.WaitGroup
	slots := make(chan struct{}, maxDials)
	for i, s := range c.MCP {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
			defer cancel()
			found[i] = Finding{Subject: "mcp " + s.Name}
			tools, err := s.Ask(ctx)
			if err != nil {
				found[i].Severity, found[i].Problem = Failure, "it does not list its tools: "+c.Hide(err.Error())
				found[i].Advice = "Check url, api_key, oauth or auth, the network and the server's certificate."
				return
			}
			found[i].Problem = fmt.Sprintf("it lists %s: the credential is accepted, or not needed", terminal.Plural(tools, "tool"))
		})
	}
	running.Wait()
	return found
}

// checkMCP looks for servers of tools that nobody reaches, and for keys that reach none.
func checkMCP(c *inspected) (found []Finding) {
	for _, s := range c.MCP {
		subject := "mcp " + s.Name
		if s.Demo {
			found = append(found, Finding{c.testSeverity(), subject, "it is the built-in server, which is for trying out", "Take it out where others can call."})
		}
		if s.Desktops && c.Desktops == nil {
			found = append(found, Finding{Warning, subject, "it has no desktops: there is no vnc block", "Add vnc with the workstations, or take the server out."})
		}
		if s.Keyless && strings.HasPrefix(s.URL, "https://") {
			found = append(found, Finding{Note, subject, "nothing authorizes the gateway there: " + s.URL, "Add api_key, oauth or auth if the server wants it."})
		}
		if s.APIKey != "" && !strings.Contains(s.APIKey, "{") {
			found = append(found, Finding{Warning, subject, "its api_key is written in the configuration, which the admin endpoint shows", "Write {env.NAME} or {file./path}."})
		}
		reached := slices.ContainsFunc(c.Keys, func(k offline.Key) bool { return k.CanCallTools && slices.Contains(k.Reaches, s.Name) })
		if !reached && !c.MakesKeys() {
			found = append(found, Finding{Warning, subject, "no key reaches it", fmt.Sprintf("Give a key the scope mcp:call and the line mcp %s.", s.Name)})
		}
	}
	for _, k := range c.Keys {
		subject := "key " + k.Name
		switch {
		case k.Disabled:
		case k.CanCallTools && len(k.MCP) == 0:
			found = append(found, Finding{Warning, subject, "it has the scope mcp:call and reaches no MCP server", "Add a line mcp NAME for each server."})
		case !k.CanCallTools && len(k.MCP) > 0:
			found = append(found, Finding{Warning, subject, "its mcp lines have no effect: it lacks the scope mcp:call", "Add mcp:call to its scopes."})
		case len(k.Reaches) == 0 && len(k.MCP) > 0:
			found = append(found, Finding{Warning, subject, fmt.Sprintf("its tenant %s takes all MCP servers from it", k.Tenant), "Compare the mcp lines of both."})
		}
	}
	return found
}

// checkAutomation looks for keys of agents where agents may do nothing.
func checkAutomation(c *inspected) (found []Finding) {
	if c.Desktops != nil && c.Desktops.Automated {
		return nil
	}
	for _, k := range c.Keys {
		if k.CanAutomate && !k.Disabled {
			found = append(found, Finding{
				Warning, "key " + k.Name, "its scope workstations:automate has no effect: automation is off", "Write automation view or control in the vnc block.",
			})
		}
	}
	return found
}
