package cli

import (
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatehouse-proxy/gatehouse/internal/terminal"
)

// newBudgetCommand is `caddy gatehouse budget`.
func newBudgetCommand() *cobra.Command {
	o := new(operator)
	cmd := o.command(&cobra.Command{
		Use: "budget", Short: "What is spent and reserved of the running Caddy's budgets",
		Long:    "Shows what is spent and reserved of every budget. The command limits also has what is left, rates, and\nlimits of calls at once.",
		Example: "  caddy gatehouse budget --tenant research",
	}, func([]string) error { return printBudgets(o) })
	cmd.Flags().StringVar(&o.tenant, "tenant", "", "only of this tenant, and those that all tenants share (default: all)")
	return cmd
}

// printBudgets prints the limits that are budgets, so that both commands agree.
func printBudgets(o *operator) error {
	q := limitsQuery{Values: url.Values{"type": {"budget"}}}
	setParam(q.Values, "tenant", o.tenant)
	all, _, err := allLimits(o, q)
	if err != nil {
		return err
	}
	if o.asJSON {
		return o.printJSON(all)
	}
	rows, err := rowsOf[limitRow](all)
	if err != nil {
		return err
	}
	return o.list(len(rows), "No budgets.", "SUBJECT\tBUDGET\tSPENT\tRESERVED\tRESETS", func(row func(...any)) {
		for _, l := range rows {
			resets := "never"
			if l.ResetsAt != nil {
				resets = l.ResetsAt.Format(time.RFC3339)
			}
			row(terminal.Subject(l.Subject), l.Configured, l.Spent, l.Reserved, resets)
		}
	})
}
