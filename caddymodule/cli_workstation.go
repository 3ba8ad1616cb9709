package caddymodule

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// operator talks to a running Caddy through its admin endpoint.
type operator struct {
	address string // "" = the configuration file's, or Caddy's default
	config  string
	tenant  string
	out     io.Writer
}

// newWorkstationCommand is `caddy gatehouse workstation …`.
func newWorkstationCommand() *cobra.Command {
	o := new(operator)
	cmd := &cobra.Command{
		Use: "workstation", Short: "Workstations of the running Caddy",
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			o.out = cmd.OutOrStdout()
			names := []string{o.tenant}
			if len(args) > 0 {
				names = append(names, args[0])
			}
			if cmd.Name() == "end" {
				names = append(names, args[1])
			}
			return checkNames(names...)
		},
	}
	o.addFlags(cmd)
	cmd.PersistentFlags().StringVar(&o.tenant, "tenant", keys.DefaultTenant, "the tenant that owns the workstation")
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List the workstations of all tenants", Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error { return o.list() },
		},
		&cobra.Command{
			Use: "release ID", Short: "End all sessions and addresses of a workstation", Args: cobra.ExactArgs(1),
			RunE: func(_ *cobra.Command, args []string) error { return o.change(http.MethodDelete, args[0], "") },
		},
		&cobra.Command{
			Use: "restore ID", Short: "Put a released workstation in service again", Args: cobra.ExactArgs(1),
			RunE: func(_ *cobra.Command, args []string) error { return o.change(http.MethodPost, args[0], "/restore") },
		},
		&cobra.Command{
			Use: "sessions ID", Short: "List the open sessions of a workstation", Args: cobra.ExactArgs(1),
			RunE: func(_ *cobra.Command, args []string) error { return o.sessions(args[0]) },
		},
		&cobra.Command{
			Use: "end ID SESSION", Short: "End one session", Args: cobra.ExactArgs(2),
			RunE: func(_ *cobra.Command, args []string) error {
				return o.change(http.MethodDelete, args[0], "/sessions/"+url.PathEscape(args[1]))
			},
		},
		o.registerCommand(),
	)
	return cmd
}

func (o *operator) registerCommand() *cobra.Command {
	var credential string
	cmd := &cobra.Command{
		Use: "register ID HOST:PORT", Short: "Put a workstation in service at run time", Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			body, err := json.Marshal(map[string]string{"address": args[1], "credential": credential})
			if err != nil {
				return err
			}
			return o.call(http.MethodPut, o.path(args[0]), bytes.NewReader(body), nil)
		},
	}
	cmd.Flags().StringVar(&credential, "credential", "", "the name of a credential in the configuration")
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
	return adminPath + "/" + url.PathEscape(o.tenant) + "/" + url.PathEscape(id)
}

func (o *operator) change(method, id, rest string) error {
	return o.call(method, o.path(id)+rest, nil, nil)
}

func (o *operator) list() error {
	var views []struct {
		Tenant, Source, State, Address string
		ID                             string `json:"workstation_id"`
		Sessions, Tokens               int
	}
	if err := o.call(http.MethodGet, adminPath, nil, &views); err != nil {
		return err
	}
	return o.table("TENANT\tWORKSTATION\tSOURCE\tSTATE\tSESSIONS\tTOKENS\tADDRESS", func(row func(...any)) {
		for _, v := range views {
			row(v.Tenant, v.ID, v.Source, v.State, v.Sessions, v.Tokens, v.Address)
		}
	})
}

func (o *operator) sessions(id string) error {
	var views []struct {
		Key, Viewer, Security string
		ID                    string    `json:"session_id"`
		Started               time.Time `json:"started_at"`
		Up                    int64     `json:"bytes_up"`
		Down                  int64     `json:"bytes_down"`
	}
	if err := o.call(http.MethodGet, o.path(id)+"/sessions", nil, &views); err != nil {
		return err
	}
	return o.table("SESSION\tKEY\tVIEWER\tSECURITY\tSTARTED\tUP\tDOWN", func(row func(...any)) {
		for _, v := range views {
			row(v.ID, v.Key, v.Viewer, v.Security, v.Started.Format(time.RFC3339), v.Up, v.Down)
		}
	})
}

// addFlags adds the flags that select the running Caddy.
func (o *operator) addFlags(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&o.address, "address", "", "the admin endpoint (default: that of the configuration file, else localhost:2019)")
	cmd.PersistentFlags().StringVar(&o.config, "config", "", "the Caddyfile with the admin endpoint")
}

func (o *operator) table(head string, rows func(row func(...any))) error {
	w := tabwriter.NewWriter(o.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, head)
	rows(func(cells ...any) {
		for i, cell := range cells {
			if i > 0 {
				fmt.Fprint(w, "\t")
			}
			fmt.Fprint(w, cell)
		}
		fmt.Fprintln(w)
	})
	return w.Flush()
}

func (o *operator) printJSON(v any) error {
	encoder := json.NewEncoder(o.out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

// maxAdminAnswer bounds how much of an answer is read, in bytes.
const maxAdminAnswer = 64 << 20

// request sends one request. The caller closes the answer's body.
func (o *operator) request(method, path string, body io.Reader) (*http.Response, error) {
	adapter := ""
	if o.config != "" {
		adapter = "caddyfile"
	}
	address, err := caddycmd.DetermineAdminAPIAddress(o.address, nil, o.config, adapter)
	if err != nil {
		return nil, fmt.Errorf("finding the admin endpoint: %w", err)
	}
	resp, err := caddycmd.AdminAPIRequest(address, method, path, nil, body)
	if err != nil {
		return nil, refusalOf(err)
	}
	return resp, nil
}

// call sends one request and decodes its answer into dst, unless that is nil.
func (o *operator) call(method, path string, body io.Reader, dst any) error {
	resp, err := o.request(method, path, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if dst == nil {
		return nil
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAdminAnswer)).Decode(dst); err != nil {
		return errors.Join(errors.New("reading the answer"), err)
	}
	return nil
}

// refusalOf returns the refusal of our admin API within an error of Caddy's client, which has the
// answer's JSON in its text, or the error itself.
func refusalOf(err error) error {
	text := err.Error()
	begin := strings.Index(text, "{")
	var refusal struct{ Error, Code string }
	if begin < 0 || json.Unmarshal([]byte(text[begin:]), &refusal) != nil || refusal.Code == "" {
		return err
	}
	return errors.New(refusal.Error)
}
