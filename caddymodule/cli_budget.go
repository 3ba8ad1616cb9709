package caddymodule

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/terminal"
)

const budgetsPath = "/gatehouse/budgets"

// budgetView is a budget in the operator's API. Amounts are texts: decimal USD, or a number of
// tokens.
type budgetView struct {
	// Subject is the owner: "key:dev", "tenant:acme", "gateway".
	Subject string `json:"subject"`
	// Budget is as configured: "10usd/day".
	Budget string `json:"budget"`
	// Unit is usd or tokens.
	Unit string `json:"unit"`
	// Limit is the limit of the period.
	Limit string `json:"limit"`
	// Spent is what ended calls of this period have spent.
	Spent string `json:"spent"`
	// Reserved is what calls under way have reserved.
	Reserved string `json:"reserved"`
	// ResetsAt is the end of the period; absent: never.
	ResetsAt *time.Time `json:"resets_at,omitempty"`
}

func viewOf(b limits.Balance) budgetView {
	text := func(n int64) string { return strconv.FormatInt(n, 10) }
	if b.Budget.Unit == limits.Money {
		text = limits.FormatMoney
	}
	v := budgetView{
		Subject: b.Subject, Budget: b.Budget.String(), Unit: b.Budget.Unit.String(),
		Limit: text(b.Budget.Limit), Spent: text(b.Spent), Reserved: text(b.Reserved),
	}
	if !b.ResetsAt.IsZero() {
		v.ResetsAt = &b.ResetsAt
	}
	return v
}

// serveBudgets lists all budgets of the current configuration.
func serveBudgets(w http.ResponseWriter, r *http.Request) error {
	views, err := listBudgets(r)
	writeAdmin(w, views, err)
	return nil
}

func listBudgets(r *http.Request) ([]budgetView, error) {
	if r.Method != http.MethodGet {
		return nil, apierror.New(apierror.MethodNotAllowed, "use GET")
	}
	active, err := activeGateway()
	if err != nil {
		return nil, err
	}
	balances, err := active.Budgets().All(r.Context())
	if err != nil {
		return nil, err
	}
	views := make([]budgetView, len(balances))
	for i, b := range balances {
		views[i] = viewOf(b)
	}
	return views, nil
}

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
