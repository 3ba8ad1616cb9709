package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatehouse-proxy/gatehouse/internal/terminal"
)

// limitsQuery is what the command's flags ask for.
type limitsQuery struct {
	url.Values
	most int // rows that are shown; 0: all
}

// newLimitsCommand is `caddy gatehouse limits`.
func newLimitsCommand() *cobra.Command {
	o := new(operator)
	var subject, kind string
	var full, most int
	var cmd *cobra.Command
	cmd = o.command(&cobra.Command{
		Use: "limits", Short: "What is used of the running Caddy's budgets, rates and limits of calls at once",
		Example: "  caddy gatehouse limits --full 80\n  caddy gatehouse limits --subject key:dev",
	}, func([]string) error {
		q := limitsQuery{url.Values{}, most}
		if name, ok := strings.CutPrefix(subject, "key:"); ok {
			key, err := findKey(o, name)
			if err != nil {
				return err
			}
			subject = "key:" + key
		}
		for name, value := range map[string]string{"tenant": o.tenant, "subject": subject, "type": kind} {
			setParam(q.Values, name, value)
		}
		if full < 0 || full > 100 || most < 0 {
			return errors.New("--full is a percentage from 0 to 100, --limit is 0 or more")
		}
		if o.asJSON && !cmd.Flags().Changed("limit") {
			q.most = 0 // a program would not notice what is missing
		}
		if full > 0 {
			q.Set("min_used", strconv.FormatFloat(float64(full)/100, 'f', -1, 64))
		}
		return printLimits(o, q)
	})
	flags := cmd.Flags()
	flags.StringVar(&o.tenant, "tenant", "", "only of this tenant, and those that all tenants share (default: all)")
	flags.StringVar(&subject, "subject", "", "only of this owner: key:NAME, tenant:NAME, model:PATTERN or gateway")
	flags.StringVar(&kind, "type", "", "only budget, rate or concurrency")
	flags.IntVar(&full, "full", 0, "only those of which at least so many percent are used")
	flags.IntVar(&most, "limit", 1000, "how many; 0, and by default with --json, for all")
	return cmd
}

// limitRow is a row of the answer, as far as the table shows it. Money stays a text: it is exact.
type limitRow struct {
	Subject    string      `json:"subject"`    // the owner of the limit
	Tenant     string      `json:"tenant"`     // the owner's; "" for a limit that all tenants share
	Type       string      `json:"type"`       // budget, rate or concurrency
	Configured string      `json:"configured"` // the limit in the words of the configuration
	Remaining  json.Number `json:"remaining"`  // how much is left. Money stays a text here and below: it is exact
	Spent      json.Number `json:"spent"`      // what ended calls have spent of a budget
	Reserved   json.Number `json:"reserved"`   // what calls under way have reserved of a budget
	Used       json.Number `json:"used"`       // what a rate has counted
	InUse      int64       `json:"in_use"`     // how many calls are under way
	Queued     int64       `json:"queued"`     // how many calls wait for one of those to end
	Ratio      float64     `json:"used_ratio"` // the share that is used
	Exhausted  bool        `json:"exhausted"`  // nothing is left
	ResetsAt   *time.Time  `json:"resets_at"`  // when the limit is full again; nil: never, or at any time
}

// printLimits prints the rows of all pages, or the most that are wanted.
func printLimits(o *operator, q limitsQuery) error {
	all, more, err := allLimits(o, q)
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
	now := time.Now()
	err = o.list(len(rows), "No limits, or none that the flags choose.", "SUBJECT\tTENANT\tLIMIT\tUSED\tLEFT\tFULL\tRESETS", func(row func(...any)) {
		for _, l := range rows {
			row(terminal.Subject(l.Subject), terminal.OrDash(l.Tenant), l.Type+" "+l.Configured, l.used(), amountCell(l.Remaining), l.full(), l.resets(now))
		}
	})
	if err == nil && more {
		_, err = fmt.Fprintf(o.out, "\nOnly the first %d are shown. Choose some with --tenant, --subject or --full, or write --limit 0 for all.\n", len(all))
	}
	return err
}

// maxLimitsPage is the most rows of a page, see [report.Limits].
const maxLimitsPage = 1000

func allLimits(o *operator, q limitsQuery) (all []json.RawMessage, more bool, err error) {
	all = []json.RawMessage{}
	for {
		page := maxLimitsPage
		if q.most > 0 {
			page = min(page, q.most-len(all))
		}
		q.Set("limit", strconv.Itoa(page))
		var answer struct {
			Data []json.RawMessage `json:"data"`
			Next string            `json:"next_cursor"`
		}
		if err := o.call(http.MethodGet, "/gatehouse/limits?"+q.Encode(), nil, &answer); err != nil {
			return nil, false, err
		}
		all = append(all, answer.Data...)
		if answer.Next == "" || len(all) == q.most {
			return all, answer.Next != "", nil
		}
		q.Set("cursor", answer.Next)
	}
}

// used is what is used, and what is only reserved or waits.
func (l *limitRow) used() string {
	switch {
	case l.Type == "budget" && l.Reserved != "0":
		return amountCell(l.Spent) + " + " + amountCell(l.Reserved) + " reserved"
	case l.Type == "budget":
		return amountCell(l.Spent)
	case l.Type == "rate":
		return amountCell(l.Used)
	case l.Queued > 0:
		return fmt.Sprintf("%d + %d waiting", l.InUse, l.Queued)
	}
	return strconv.FormatInt(l.InUse, 10)
}

// tableDecimals are the decimals of money in a table. A ten-thousandth of a cent is enough to see.
const tableDecimals = 6

// amountCell shortens money with more decimals than a table needs.
func amountCell(n json.Number) string {
	text := n.String()
	_, decimals, _ := strings.Cut(text, ".")
	if v, err := n.Float64(); err == nil && len(decimals) > tableDecimals {
		text = strings.TrimRight(strings.TrimRight(strconv.FormatFloat(v, 'f', tableDecimals, 64), "0"), ".")
	}
	return text
}

func (l *limitRow) full() string {
	percent := math.Floor(l.Ratio * 100)
	text := fmt.Sprintf("%3.0f%%", percent)
	if l.Exhausted && percent < 100 { // the rest is reserved, or too little to show
		text += " full"
	}
	return text
}

func (l *limitRow) resets(now time.Time) string {
	switch {
	case l.ResetsAt != nil:
		return "in " + shortDuration(l.ResetsAt.Sub(now))
	case l.Type == "budget":
		return "never"
	}
	return "-"
}

// shortDuration is a time to wait in its two largest units: 17d 4h, 3h 20m, 59s.
func shortDuration(d time.Duration) string {
	d = max(d, 0).Round(time.Second)
	units := []struct {
		length time.Duration
		name   string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}}
	for i, u := range units {
		if d < u.length && u.length > time.Second {
			continue
		}
		text := fmt.Sprintf("%d%s", d/u.length, u.name)
		if i+1 < len(units) {
			if next := d % u.length / units[i+1].length; next > 0 {
				text += fmt.Sprintf(" %d%s", next, units[i+1].name)
			}
		}
		return text
	}
	return ""
}
