package cli

import (
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatehouse-proxy/gatehouse/internal/terminal"
	"github.com/gatehouse-proxy/gatehouse/internal/toolserver"
)

// serversPath is the admin API's path of MCP servers.
const serversPath = "/gatehouse/mcp"

// newMCPCommand is `caddy gatehouse mcp`.
func newMCPCommand() *cobra.Command {
	o := new(operator)
	return o.command(&cobra.Command{
		Use: "mcp [SERVER]", Short: "The running Caddy's MCP servers and their health, or the tools of one",
		Long: "Shows the MCP servers, and what requests have shown of their health. With the name of a server\n" +
			"the gateway asks it for all of its tools, with its own credential, and shows which of them the\n" +
			"server's block lets be called; a tenant or a key may allow less.",
		Example: "  caddy gatehouse mcp\n  caddy gatehouse mcp demo",
		Args:    cobra.MaximumNArgs(1),
	}, func(args []string) error {
		if len(args) == 1 {
			return listTools(o, args[0])
		}
		return listServers(o)
	})
}

func listServers(o *operator) error {
	return show(o, serversPath, func(list *[]toolserver.ServerStatus) error {
		return o.list(len(*list), "No MCP servers.", "SERVER\tSTATE\tSINCE\tUNDER WAY\tLAST FAILURE", func(row func(...any)) {
			for _, s := range *list {
				row(s.ID, s.Status, timeCell(s.Since), s.InFlight, textOrDash(s.LastError))
			}
		})
	})
}

func listTools(o *operator, server string) error {
	return show(o, serversPath+"?"+url.Values{"server": {server}}.Encode(), func(list *toolserver.ServerTools) error {
		return o.list(len(list.Tools), "The server has no tools.", "TOOL\tALLOWED\tUSD\tWHAT IT DOES", func(row func(...any)) {
			for _, t := range list.Tools {
				row(terminal.Printable(t.Name), yesOrNo(t.Allowed), t.CostUSD, firstLine(t.Title, t.Description))
			}
		})
	})
}

func yesOrNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// maxSummary bounds what a table shows of a description, in characters.
const maxSummary = 80

// firstLine is the beginning of a tool's title and description, in one line.
func firstLine(title, description string) string {
	text := strings.Join(strings.Fields(title+" "+description), " ")
	if r := []rune(text); len(r) > maxSummary {
		text = string(r[:maxSummary-1]) + "…"
	}
	return terminal.OrDash(terminal.Printable(text))
}
