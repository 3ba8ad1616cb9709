package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatehouse-proxy/gatehouse/internal/report"
	"github.com/gatehouse-proxy/gatehouse/internal/terminal"
)

// newClusterCommand is `caddy gatehouse cluster …`.
func newClusterCommand() *cobra.Command {
	o := new(operator)
	cmd := o.command(&cobra.Command{
		Use: "cluster", Short: "The nodes of the running Caddy's cluster, and the state of what they share",
		Long: "Shows the gateways that are one, as the running Caddy sees them: their leases, the state of Valkey and of\n" +
			"PostgreSQL, the clock, the epoch of the ledger, and what waits to be written. Other gateways may see\n" +
			"something else, if the network between them is cut: ask each.",
		Example: "  caddy gatehouse cluster\n  caddy gatehouse cluster --json --address 10.0.0.7:2019",
	}, func([]string) error {
		return show(o, "/gatehouse/cluster", func(status *report.ClusterStatus) error { return printCluster(o, status, time.Now()) })
	})
	cmd.AddCommand(newImportCommand())
	return cmd
}

func printCluster(o *operator, status *report.ClusterStatus, now time.Time) error {
	fmt.Fprintf(o.out, "Cluster %s, seen by node %s.\n\n", status.Name, status.Node)
	if err := printShared(o, status); err != nil {
		return err
	}
	fmt.Fprintln(o.out)
	return o.table("NODE\tLEASE\tLIMITS", func(row func(...any)) {
		for _, n := range status.Nodes {
			lease, rules := "-", "as here"
			if !n.LeaseEnds.IsZero() {
				lease = "ended"
				if left := n.LeaseEnds.Sub(now); left > 0 {
					lease = shortDuration(left) + " left"
				}
			}
			if !n.SameRules {
				rules = "others"
			}
			row(n.ID, lease, rules)
		}
	})
}

// printShared prints the states of what the nodes share.
func printShared(o *operator, s *report.ClusterStatus) error {
	state := func(trouble string) string {
		if trouble != "" {
			return "degraded"
		}
		return "ok"
	}
	e, d := &s.Engine, &s.Database
	trouble := e.Error
	switch {
	case trouble != "":
	case e.Recovering:
		trouble = "hard budgets wait for " + terminal.OrDash(strings.Join(e.WaitingFor, ", "))
	case e.BreakerOpen:
		trouble = "it was too slow and is tried once a second"
	}
	return o.table("PART\tSTATE\tSINCE\tDETAIL", func(row func(...any)) {
		row("Valkey", state(trouble), timeCell(e.Since), terminal.OrDash(trouble))
		row("PostgreSQL", state(d.Error), timeCell(d.Since), terminal.OrDash(d.Error))
		row("clock", "", "-", fmt.Sprintf("%+.3f s to Valkey's", e.ClockOffset))
		row("ledger", "", "-", fmt.Sprintf("epoch %s; recovered %s; %s waiting", terminal.OrDash(shortEpoch(e.Epoch)), terminal.Plural(int(e.Recoveries), "time"), terminal.Plural(e.Outbox, "settlement")))
		row("leases", "", "-", fmt.Sprintf("lost %s; %s cleared away", terminal.Plural(int(e.LeasesLost), "time"), terminal.Plural(int(e.Reaped), "dead node")))
		row("rows", "", "-", fmt.Sprintf("%d waiting, %s on disk, %d dropped, %d refused", d.Waiting, terminal.Size(d.SpooledBytes), d.Dropped, d.Refused))
		row("changes", "", "-", fmt.Sprintf("number %d, looked for %s ago", d.FeedSeq, time.Duration(d.FeedBehind*float64(time.Second)).Round(time.Millisecond)))
	})
}

// shortEpoch is the beginning of a replication ID, enough to compare it with the ID of another node.
func shortEpoch(id string) string { return id[:min(len(id), 12)] }
