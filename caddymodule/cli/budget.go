package cli

import (
	"fmt"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatehouse-proxy/gatehouse/internal/terminal"
)

// newBudgetCommand is `caddy gatehouse budget`.
func newBudgetCommand() *cobra.Command {
	o := new(operator)
	asJSON := false
	cmd := &cobra.Command{
		Use: "budget", Short: "What is spent and reserved of the running Caddy's budgets", Args: cobra.NoArgs,
		Long:    "Shows what is spent and reserved of every budget. The command limits also has what is left, rates, and\nlimits of calls at once.",
		Example: "  caddy gatehouse budget --tenant research",
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.out = cmd.OutOrStdout()
			return o.budgets(asJSON)
		},
	}
	o.addFlags(cmd)
	cmd.Flags().StringVar(&o.tenant, "tenant", "", "only of this tenant, and those that all tenants share (default: all)")
	addJSON(cmd, &asJSON)
	return cmd
}

// budgets prints the limits that are budgets, so that both commands agree.
func (o *operator) budgets(asJSON bool) error {
	q := limitsQuery{Values: url.Values{"type": {"budget"}}}
	setParam(q.Values, "tenant", o.tenant)
	all, _, err := allLimits(o, q)
	if err != nil {
		return err
	}
	if asJSON {
		return o.printJSON(all)
	}
	rows, err := limitRows(all)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintln(o.out, "No budgets.")
		return err
	}
	return o.table("SUBJECT\tBUDGET\tSPENT\tRESERVED\tRESETS", func(row func(...any)) {
		for _, l := range rows {
			resets := "never"
			if l.ResetsAt != nil {
				resets = l.ResetsAt.Format(time.RFC3339)
			}
			row(terminal.Subject(l.Subject), l.Configured, l.Spent, l.Reserved, resets)
		}
	})
}
