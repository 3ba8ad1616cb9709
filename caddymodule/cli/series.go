package cli

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatehouse-proxy/gatehouse/internal/terminal"
)

// newSeriesCommand is `caddy gatehouse series`.
func newSeriesCommand() *cobra.Command {
	o := new(operator)
	var f activityFlags
	var by, step, chart string
	var top int
	var rebuild bool
	cmd := &cobra.Command{
		Use: "series", Short: "Requests, cost, tokens and latencies over time", Args: cobra.NoArgs,
		Long: "Requests, cost, tokens and latencies over time, from hourly sums that are kept longer than the activity's rows, or by the minute from the rows.\n" +
			"Times are UTC. Percentiles are of calls that a provider answered, and within 6.25 %.",
		Example: "  caddy gatehouse series --by key --step hour --since 24h\n  caddy gatehouse series --by code --chart errors\n  caddy gatehouse series --by model --from 2026-01-01 --csv > models.csv",
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.writeTo(cmd)
			if rebuild {
				return rebuildFrom(o)
			}
			if metrics := terminal.Metrics(); chart != "" && !slices.Contains(metrics, chart) {
				return fmt.Errorf("--chart %q: want one of %s", chart, strings.Join(metrics, ", "))
			}
			q, err := f.query(o)
			if err != nil {
				return err
			}
			q.Set("by", by)
			q.Set("step", step)
			q.Set("top", strconv.Itoa(top))
			return showRows(o, "/gatehouse/series", q, &f, func(out io.Writer, answer io.Reader) error { return terminal.Series(out, answer, chart) })
		},
	}
	o.addFlags(cmd)
	f.add(cmd)
	cmd.Flags().StringVar(&by, "by", "model", "model, key, tenant, provider, code, end_user or app")
	cmd.Flags().StringVar(&step, "step", "day", "minute (at most six hours), hour or day")
	cmd.Flags().IntVar(&top, "top", 10, "how many series; the others are added up")
	cmd.Flags().StringVar(&chart, "chart", "", "what is shown of each point in time: cost, requests, errors, tokens or p95 (default: cost, or requests if nothing has a cost)")
	cmd.Flags().BoolVar(&rebuild, "rebuild", false, "make the sums again from the rows that are kept, while calls go on")
	return cmd
}

func rebuildFrom(o *operator) error {
	var answer struct{ Rows int }
	if err := o.call(http.MethodPost, "/gatehouse/series/rebuild", nil, &answer); err != nil {
		return err
	}
	_, err := fmt.Fprintf(o.out, "The series were made again from %d rows.\n", answer.Rows)
	return err
}
