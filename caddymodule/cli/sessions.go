package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatehouse-proxy/gatehouse/internal/terminal"
)

// newSessionsCommand is `caddy gatehouse sessions …`.
func newSessionsCommand() *cobra.Command {
	o := new(operator)
	var workstation, key string
	cmd := o.command(&cobra.Command{
		Use: "sessions", Short: "The open desktop sessions of the running Caddy",
		Example: "  caddy gatehouse sessions --workstation desk1\n  caddy gatehouse sessions end vnc-0123456789abcdef",
	}, func([]string) error {
		key, err := findKey(o, key)
		if err != nil {
			return err
		}
		q := url.Values{}
		for name, value := range map[string]string{"tenant": o.tenant, "workstation": workstation, "key": key} {
			setParam(q, name, value)
		}
		return printSessions(o, sessionsPath+"?"+q.Encode())
	})
	flags := cmd.Flags()
	flags.StringVar(&o.tenant, "tenant", "", "only of this tenant (default: all)")
	flags.StringVar(&workstation, "workstation", "", "only at this workstation")
	flags.StringVar(&key, "key", "", "only of this key: its name; of a key made at run time the beginning of its name or hash is enough")
	cmd.AddCommand(&cobra.Command{
		Use: "end SESSION", Short: "End one session, and the address with which it was opened", Args: positional(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.writeTo(cmd)
			if err := checkNames(args[0]); err != nil {
				return err
			}
			return o.change(http.MethodDelete, sessionsPath+"/"+url.PathEscape(args[0]), "Session %s has ended.", args[0])
		},
	})
	return cmd
}

// sessionRow is a session of the answer, as far as the table shows it.
type sessionRow struct {
	ID          string    `json:"session_id"`     // the name of the session
	Tenant      string    `json:"tenant"`         // owns the workstation
	Workstation string    `json:"workstation_id"` // where the session is open
	Key         string    `json:"key"`            // asked for the address
	Viewer      string    `json:"viewer"`         // the address of the viewer
	Security    string    `json:"security"`       // how the viewer showed its token
	ViewOnly    bool      `json:"view_only"`      // keyboard and mouse are cut off
	Started     time.Time `json:"started_at"`     // when the session was opened
	Until       time.Time `json:"until"`          // when it ends at the latest
	Up          int64     `json:"bytes_up"`       // how many bytes the viewer has sent
	Down        int64     `json:"bytes_down"`     // how many bytes the workstation has sent
	Node        string    `json:"node"`           // the gateway that has it, in a cluster
	Role        string    `json:"role"`           // "guest" of one that watches another
	Guests      int       `json:"guests"`         // how many watch it
}

// printSessions prints the sessions that the admin endpoint answers with.
func printSessions(o *operator, path string) error {
	return showList(o, path, func(raw []json.RawMessage) error {
		all, err := rowsOf[sessionRow](raw)
		if err != nil {
			return err
		}
		now := time.Now()
		header, clustered := "SESSION\tTENANT\tWORKSTATION\tKEY\tVIEWER\tSECURITY\tOPEN FOR\tENDS\tUP\tDOWN", len(all) > 0 && all[0].Node != ""
		if clustered {
			header += "\tNODE"
		}
		return o.list(len(all), "No open sessions.", header, func(row func(...any)) {
			for _, s := range all {
				viewer := s.Viewer
				var notes []string
				if s.Role != "" {
					notes = append(notes, s.Role)
				}
				if s.ViewOnly {
					notes = append(notes, "view only")
				}
				if s.Guests > 0 {
					notes = append(notes, fmt.Sprintf("guests: %d", s.Guests))
				}
				if len(notes) > 0 {
					viewer += " (" + strings.Join(notes, ", ") + ")"
				}
				columns := []any{
					s.ID, s.Tenant, s.Workstation, terminal.KeyName(s.Key), viewer, s.Security,
					shortDuration(now.Sub(s.Started)), "in " + shortDuration(s.Until.Sub(now)), shortBytes(s.Up), shortBytes(s.Down),
				}
				if clustered {
					columns = append(columns, s.Node)
				}
				row(columns...)
			}
		})
	})
}

// shortBytes is a number of bytes in the largest unit of which there is one.
func shortBytes(n int64) string {
	value, units := float64(n), []string{"B", "KiB", "MiB", "GiB"}
	for value >= 1024 && len(units) > 1 {
		value, units = value/1024, units[1:]
	}
	if units[0] == "B" {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", value, units[0])
}
