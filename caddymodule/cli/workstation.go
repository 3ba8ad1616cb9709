package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/terminal"
)

// newWorkstationCommand is `caddy gatehouse workstation …`.
func newWorkstationCommand() *cobra.Command {
	o := new(operator)
	cmd := group(&cobra.Command{
		Use: "workstation", Short: "Workstations of the running Caddy",
		Example: "  caddy gatehouse workstation list\n  caddy gatehouse workstation release desk1 --tenant research",
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			o.out = cmd.OutOrStdout()
			if cmd.Name() == "list" {
				return nil
			}
			if !cmd.Flags().Changed("tenant") { // an empty one, of a variable that is not set, is refused
				o.tenant = keys.DefaultTenant
			}
			names := append([]string{o.tenant}, args...)
			if cmd.Name() == "register" {
				names = names[:2] // the last is an address
			}
			return checkNames(names...)
		},
	})
	o.addFlags(cmd)
	cmd.PersistentFlags().StringVar(&o.tenant, "tenant", "", "the tenant that owns the workstation (default: all in list, else default)")
	list := &cobra.Command{
		Use: "list", Short: "List the workstations of all tenants, or of one", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return o.listWorkstations() },
	}
	sessions := &cobra.Command{
		Use: "sessions ID", Short: "List the open sessions of a workstation", Args: positional(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return printSessions(o, o.path(args[0])+"/sessions")
		},
	}
	addJSON(list, &o.asJSON)
	addJSON(sessions, &o.asJSON)
	cmd.AddCommand(list, sessions,
		&cobra.Command{
			Use: "release ID", Short: "End all sessions and addresses of a workstation", Args: positional(1),
			RunE: func(_ *cobra.Command, args []string) error {
				return o.change(http.MethodDelete, o.path(args[0]), "Workstation %s is released.", args[0])
			},
		},
		&cobra.Command{
			Use: "restore ID", Short: "Put a released workstation in service again", Args: positional(1),
			RunE: func(_ *cobra.Command, args []string) error {
				return o.change(http.MethodPost, o.path(args[0])+"/restore", "Workstation %s is in service again.", args[0])
			},
		},
		&cobra.Command{
			Use: "end ID SESSION", Short: "End one session", Args: positional(2),
			RunE: func(_ *cobra.Command, args []string) error {
				return o.change(http.MethodDelete, o.path(args[0])+"/sessions/"+url.PathEscape(args[1]), "Session %s has ended.", args[1])
			},
		},
		o.registerCommand(),
	)
	return cmd
}

func (o *operator) registerCommand() *cobra.Command {
	var credential, machine, source string
	cmd := &cobra.Command{
		Use: "register ID HOST:PORT", Short: "Put a workstation in service at run time", Args: positional(2),
		Example: "  caddy gatehouse workstation register desk9 10.0.0.9:5901 --credential lab",
		RunE: func(_ *cobra.Command, args []string) error {
			registration := make(map[string]string)
			for name, value := range map[string]string{"address": args[1], "credential": credential, "generation": machine, "source": source} {
				if value != "" {
					registration[name] = value
				}
			}
			body, err := json.Marshal(registration)
			if err != nil {
				return err
			}
			if err := o.call(http.MethodPut, o.path(args[0]), bytes.NewReader(body), nil); err != nil {
				return err
			}
			_, err = fmt.Fprintf(o.out, "Workstation %s is in service.\n", args[0])
			return err
		},
	}
	cmd.Flags().StringVar(&credential, "credential", "", "the name of a credential in the configuration")
	cmd.Flags().StringVar(&machine, "generation", "", "which machine it is; another one ends what viewers had of the one before")
	cmd.Flags().StringVar(&source, "source", "", "the control plane that owns the workstation, if one does")
	return cmd
}

// errName refuses names that would change the path.
var errName = errors.New("not the name of a workstation, session or tenant")

func checkNames(names ...string) error {
	for _, name := range names {
		if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\") {
			return fmt.Errorf("%q: %w", name, errName)
		}
	}
	return nil
}

func (o *operator) path(id string) string {
	return workstationsPath + "/" + url.PathEscape(o.tenant) + "/" + url.PathEscape(id)
}

// change sends a request without a body, and says what it did.
func (o *operator) change(method, path, done, name string) error {
	if err := o.call(method, path, nil, nil); err != nil {
		return err
	}
	_, err := fmt.Fprintf(o.out, done+"\n", name)
	return err
}

// workstationRow is a workstation of the answer, as far as the table shows it.
type workstationRow struct {
	ID       string `json:"workstation_id"` // the name of the workstation, unique in its tenant
	Tenant   string `json:"tenant"`         // owns it
	Source   string `json:"source"`         // declared (the configuration), registered (at run time), or the control plane that did so
	Machine  string `json:"generation"`     // which machine it is, "" if nobody has said
	State    string `json:"state"`          // available, expired or released
	Address  string `json:"address"`        // where a registered workstation is; "" for one of the configuration
	Sessions int    `json:"sessions"`       // the open ones
	Tokens   int    `json:"tokens"`         // the live addresses for viewers
}

func (o *operator) listWorkstations() error {
	var answer struct{ Data []json.RawMessage }
	if err := o.call(http.MethodGet, workstationsPath, nil, &answer); err != nil {
		return err
	}
	found, err := rowsOf[workstationRow](answer.Data)
	if err != nil {
		return err
	}
	var rows []workstationRow
	chosen := []json.RawMessage{}
	for i, row := range found {
		if o.tenant == "" || row.Tenant == o.tenant {
			rows, chosen = append(rows, row), append(chosen, answer.Data[i])
		}
	}
	if o.asJSON {
		return o.printJSON(chosen)
	}
	return o.list(len(rows), "No workstations.", "WORKSTATION\tTENANT\tSOURCE\tSTATE\tSESSIONS\tTOKENS\tADDRESS\tGENERATION", func(row func(...any)) {
		for _, w := range rows {
			row(w.ID, w.Tenant, w.Source, w.State, w.Sessions, w.Tokens, terminal.OrDash(w.Address), terminal.OrDash(w.Machine))
		}
	})
}
