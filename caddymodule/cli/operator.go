package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"text/tabwriter"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/gatehouse-proxy/gatehouse/internal/terminal"
)

// Paths of the admin API that several commands use.
const (
	keysPath         = "/gatehouse/keys"
	sessionsPath     = "/gatehouse/sessions"
	workstationsPath = "/gatehouse/workstations"
)

// operator talks to a running Caddy through its admin endpoint.
type operator struct {
	address string // "" = the configuration file's, or Caddy's default
	config  string
	tenant  string
	asJSON  bool // instead of text
	out     io.Writer
	notes   io.Writer // what is no part of the answer
}

// command completes a command that asks the running Caddy, and can print JSON. Without a rule for them
// it has no arguments.
func (o *operator) command(cmd *cobra.Command, run func(args []string) error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.writeTo(cmd)
		return run(args)
	}
	if cmd.Args == nil {
		cmd.Args = cobra.NoArgs
	}
	o.addFlags(cmd)
	addJSON(cmd, &o.asJSON)
	return cmd
}

// writeTo lets the command print where cobra wants it.
func (o *operator) writeTo(cmd *cobra.Command) { o.out, o.notes = cmd.OutOrStdout(), cmd.ErrOrStderr() }

// addFlags adds the flags that select the running Caddy.
func (o *operator) addFlags(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&o.address, "address", "", "the admin endpoint (default: that of --config, else $CADDY_ADMIN, else localhost:2019)")
	cmd.PersistentFlags().StringVar(&o.config, "config", "", "the configuration file that names the admin endpoint")
}

// addJSON adds the flag of commands that can print JSON instead of text.
func addJSON(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "print JSON")
}

// positional lets a command have exactly so many arguments, and says how it is called otherwise.
func positional(count int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == count {
			return nil
		}
		_, arguments, _ := strings.Cut(cmd.Use, " ")
		return fmt.Errorf("usage: %s %s (given: %s)", cmd.CommandPath(), arguments, terminal.Plural(len(args), "argument"))
	}
}

// group makes a command that only has subcommands. Cobra by itself takes an unknown one for success.
func group(cmd *cobra.Command) *cobra.Command {
	cmd.Args = cobra.NoArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	return cmd
}

// list is table, or says that so many rows are none.
func (o *operator) list(rows int, none, head string, each func(row func(...any))) error {
	if rows == 0 {
		_, err := fmt.Fprintln(o.out, none)
		return err
	}
	return o.table(head, each)
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
	if o.config != "" && filepath.Ext(o.config) != ".json" {
		adapter = "caddyfile"
	}
	address, err := caddycmd.DetermineAdminAPIAddress(o.address, nil, o.config, adapter)
	if err != nil {
		return nil, fmt.Errorf("finding the admin endpoint: %w", err)
	}
	resp, err := caddycmd.AdminAPIRequest(address, method, path, nil, body)
	if err != nil {
		return nil, refusalOf(address, err)
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

// show prints the answer to a GET: as JSON, or by a function.
func show[T any](o *operator, path string, print func(*T) error) error {
	var answer T
	if err := o.call(http.MethodGet, path, nil, &answer); err != nil {
		return err
	}
	if o.asJSON {
		return o.printJSON(answer)
	}
	return print(&answer)
}

// showList is show for a list, of which JSON has the rows alone.
func showList[T any](o *operator, path string, print func(rows []T) error) error {
	var answer struct{ Data []T }
	if err := o.call(http.MethodGet, path, nil, &answer); err != nil {
		return err
	}
	if o.asJSON {
		return o.printJSON(answer.Data)
	}
	return print(answer.Data)
}

// rowsOf decodes rows as far as a table shows them. JSON has all of them.
func rowsOf[T any](all []json.RawMessage) ([]T, error) {
	rows := make([]T, len(all))
	for i, raw := range all {
		if err := json.Unmarshal(raw, &rows[i]); err != nil {
			return nil, fmt.Errorf("reading the answer: %w", err)
		}
	}
	return rows, nil
}

// refusalOf returns the refusal of our admin API within an error of Caddy's client, which has the
// answer's JSON in its text. It says what to do if nothing answers. Otherwise it returns the error
// itself: that client wraps none.
func refusalOf(address string, err error) error {
	text := err.Error()
	if cause, unsent := strings.CutPrefix(text, "performing request: "); unsent {
		if _, dialled, ok := strings.Cut(cause, "dial "); ok {
			return fmt.Errorf("no Caddy answers at %s (dial %s): start it, or name its admin endpoint with --address or its configuration with --config", address, dialled)
		}
	}
	begin := strings.Index(text, "{")
	var refusal struct{ Error, Code string }
	if begin < 0 || json.Unmarshal([]byte(text[begin:]), &refusal) != nil || refusal.Code == "" {
		return err
	}
	return errors.New(refusal.Error)
}
