package cli

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatehouse-proxy/gatehouse/internal/report"
	"github.com/gatehouse-proxy/gatehouse/internal/terminal"
)

// newHealthCommand is `caddy gatehouse health`.
func newHealthCommand() *cobra.Command {
	o := new(operator)
	return o.command(&cobra.Command{Use: "health", Short: "Whether the running Caddy is ready, and the state of its parts; fails unless it is ready"},
		func([]string) error { return showHealth(o) })
}

func showHealth(o *operator) error {
	var condition report.Condition
	err := o.call(http.MethodGet, "/gatehouse/health", nil, &condition)
	switch {
	case err != nil:
		return err
	case o.asJSON:
		err = o.printJSON(condition)
	default:
		fmt.Fprintf(o.out, "The gateway is %s.\n\n", strings.ReplaceAll(condition.State, "_", " "))
		err = o.table("PART\tSTATE\tSINCE\tDETAIL", func(row func(...any)) {
			for _, p := range condition.Parts {
				row(p.Name, p.State, timeCell(p.Since), terminal.OrDash(p.Detail))
			}
		})
	}
	if err == nil && !condition.Ready() {
		err = fmt.Errorf("the gateway is not ready: %s", condition.State)
	}
	return err
}
