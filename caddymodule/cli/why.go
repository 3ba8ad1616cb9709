package cli

import (
	"net/url"

	"github.com/spf13/cobra"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/why"
)

// newWhyCommand is `caddy gatehouse why`.
func newWhyCommand() *cobra.Command {
	o := new(operator)
	return o.command(&cobra.Command{
		Use: "why ID", Short: "What happened to a call, a VNC session or a whole run, and what to do",
		Long: "Tells what happened to one call or VNC session of the running Caddy: who made it, which providers were\n" +
			"tried, where the time went, and, if it was refused, which option of the configuration did that.\n\n" +
			"ID is the X-Request-Id of the answer, the id of a row of the activity (gen-…, vnc-…), or the provider's\n" +
			"id of the answer (chatcmpl-…, resp_…, msg_…). With the id of a trace it tells what a run did, step by step,\n" +
			"and what that cost: all calls and sessions whose caller sent the same trace in the header field traceparent.",
		Example: "  caddy gatehouse why req_6b0323ba40a3e7bbb2e4ed9b37f6b1a7",
		Args:    positional(1),
	}, func(args []string) error {
		return show(o, "/gatehouse/why?id="+url.QueryEscape(args[0]), func(e *why.Explanation) error { return e.Print(o.out) })
	})
}
