package cli

import (
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatehouse-proxy/gatehouse/internal/report"
	"github.com/gatehouse-proxy/gatehouse/internal/terminal"
)

const drainPath = "/gatehouse/drain"

// newDrainCommand is `caddy gatehouse drain`.
func newDrainCommand() *cobra.Command {
	o, now := new(operator), false
	cmd := o.command(&cobra.Command{
		Use: "drain", Short: "For which desktops a stopping Caddy waits, and how to end them",
		Long: "Shows whether the Caddy stops, and for how many desktops it waits (the option drain of vnc).\n" +
			"With --now these desktops end, and the process with them.",
	}, func([]string) error {
		if now {
			return o.change(http.MethodDelete, drainPath, "The desktops end, and %s with them.", "the process")
		}
		return show(o, drainPath, o.printDrain)
	})
	cmd.Flags().BoolVar(&now, "now", false, "end these desktops now")
	return cmd
}

func (o *operator) printDrain(d *report.DrainStatus) error {
	desktops := terminal.Plural(d.Sessions, "open desktop")
	if !d.Draining {
		_, err := fmt.Fprintf(o.out, "This Caddy does not stop. It has %s.\n", desktops)
		return err
	}
	now := time.Now()
	_, err := fmt.Fprintf(o.out, "This Caddy stops since %s. It waits for %s, %s at the longest.\n",
		shortDuration(now.Sub(*d.Since)), desktops, shortDuration(max(0, d.Until.Sub(now))))
	return err
}
