package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/spf13/cobra"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
	"github.com/gatehouse-proxy/gatehouse/internal/terminal"
)

// newKeyCommands are `caddy gatehouse key …` for the keys that the running Caddy makes.
func newKeyCommands() []*cobra.Command {
	o := new(operator)
	change := func(use, short string, body any) *cobra.Command {
		return o.keyCommand(use, short, 1, func(args []string) error { return o.changeKey(http.MethodPatch, args[0], "", body) })
	}
	var all bool
	list := o.keyCommand("list", "List the keys that were made at run time, newest first", 0, func([]string) error { return o.listKeys(all) })
	list.Flags().BoolVar(&all, "all", false, "disabled keys, too")
	list.Flags().StringVar(&o.tenant, "tenant", "", "only of this tenant (default: all)")
	list.Example = "  caddy gatehouse key list --tenant research --all"
	var grace string
	rotate := o.keyCommand("rotate HASH", "Give a key another secret; print it once", 1, func(args []string) error {
		return o.changeKey(http.MethodPost, args[0], "/rotate", map[string]string{"grace": grace})
	})
	rotate.Example = "  caddy gatehouse key rotate eeefe1276a5c --grace 24h"
	rotate.Flags().StringVar(&grace, "grace", "0s", "how long the present secret stays good, such as 24h")
	return []*cobra.Command{
		o.createCommand(), list, o.updateCommand(),
		o.keyCommand("show HASH", "Show one key", 1, func(args []string) error { return o.changeKey(http.MethodGet, args[0], "", nil) }),
		change("disable HASH", "Disable a key: it is refused until it is enabled again", map[string]bool{"disabled": true}),
		change("enable HASH", "Enable a disabled key", map[string]bool{"disabled": false}),
		rotate,
		o.keyCommand("delete HASH", "Delete a key; what it has spent stays", 1, func(args []string) error { return o.deleteKey(args[0]) }),
	}
}

// keyCommand returns a command with so many arguments; HASH may be the beginning of a hash.
func (o *operator) keyCommand(use, short string, args int, run func(args []string) error) *cobra.Command {
	return o.command(&cobra.Command{Use: use, Short: short, Args: positional(args)}, func(args []string) error {
		if len(args) > 0 && !isHashPrefix(args[0]) {
			return fmt.Errorf("%q is not the beginning of a hash: 4 to 64 hex digits", args[0])
		}
		return run(args)
	})
}

func isHashPrefix(text string) bool {
	return len(text) >= 4 && len(text) <= 64 && strings.Trim(text, "0123456789abcdef") == ""
}

func (o *operator) createCommand() *cobra.Command {
	var tenant string
	cmd := o.membersCommand("create --name NAME", "Make a key in the running Caddy; print its secret once", 0, func(_ []string, members map[string]any) error {
		o.tenant = tenant
		return o.changeKey(http.MethodPost, "", "", members)
	})
	cmd.Example = "  caddy gatehouse key create --name \"CI runner\" --limit 5 --limit-reset daily --model 'test/*'"
	_ = cmd.MarkFlagRequired("name") // it exists
	cmd.Flags().StringVar(&tenant, "tenant", keys.DefaultTenant, "the tenant that the key belongs to")
	return cmd
}

func (o *operator) updateCommand() *cobra.Command {
	cmd := o.membersCommand("update HASH", "Change a key; what no flag names stays", 1, func(args []string, members map[string]any) error {
		if len(members) == 0 {
			return errors.New("nothing to change: give a flag, such as --budget \"2M tokens/day\"")
		}
		return o.changeKey(http.MethodPatch, args[0], "", members)
	})
	cmd.Example = "  caddy gatehouse key update eeefe1276a5c --budget \"2M tokens/day\" --expires 14d\n  caddy gatehouse key update eeefe1276a5c --limit none"
	return cmd
}

// none as the value of a flag takes away what a key has of it.
const none = "none"

// membersCommand returns a command whose flags are members of a key. Run gets those that are given.
func (o *operator) membersCommand(use, short string, args int, run func(args []string, members map[string]any) error) *cobra.Command {
	var name, limit, reset, expires, concurrency, output string
	var lists [len(keyLists)][]string
	cmd := o.keyCommand(use, short, args, func(args []string) error {
		body := map[string]any{}
		if after, err := caddy.ParseDuration(expires); err == nil {
			expires = time.Now().Add(after).UTC().Format(time.RFC3339)
		}
		for member, text := range map[string]string{"name": name, "limit_reset": reset, "expires_at": expires, "concurrency": concurrency} {
			if text != "" {
				body[member] = text
			}
			if text == none && member != "name" {
				body[member] = nil
			}
		}
		for _, f := range []struct{ flag, member, value, want string }{
			{"limit", "limit", limit, "a number of USD"}, {"max-output-tokens", "max_output_tokens", output, "a number of tokens"},
		} {
			switch number, ok := numberOf(f.value); {
			case f.value == none:
				body[f.member] = nil
			case ok:
				body[f.member] = number
			case f.value != "":
				return fmt.Errorf("--%s %q: want %s, or none", f.flag, f.value, f.want)
			}
		}
		for i, member := range keyLists {
			if len(lists[i]) > 0 {
				body[member.name] = lists[i]
			}
			if slices.Equal(lists[i], []string{none}) {
				body[member.name] = []string{}
			}
		}
		return run(args, body)
	})
	cmd.Flags().StringVar(&name, "name", "", "name of the key")
	cmd.Flags().StringVar(&limit, "limit", "", "the most that the key may spend, in USD, or none")
	cmd.Flags().StringVar(&reset, "limit-reset", "", "daily, weekly or monthly, or none (default: the limit is never reset)")
	cmd.Flags().StringVar(&expires, "expires", "", "the end of the key: after how long, such as 14d or 12h, in UTC, such as 2027-01-31T18:00:00Z, or none")
	cmd.Flags().StringVar(&concurrency, "concurrency", "", "calls at once, such as \"10 queue 20 2s\", or none")
	cmd.Flags().StringVar(&output, "max-output-tokens", "", "the longest answer that the key may ask for, or none")
	for i, member := range keyLists {
		cmd.Flags().StringArrayVar(&lists[i], member.flag, nil, member.usage)
	}
	return cmd
}

// numberOf reads a number as JSON has it: not NaN and the like.
func numberOf(text string) (number json.Number, ok bool) {
	err := json.Unmarshal([]byte(text), &number)
	return number, err == nil && number != "" && !strings.HasPrefix(text, `"`)
}

var keyLists = [5]struct{ name, flag, usage string }{
	{"scopes", "scope", "a permission; may be repeated (none, and a new key without one: all of runtime_keys)"},
	{"models", "model", "a pattern of models; may be repeated (none, and a new key without one: all of runtime_keys)"},
	{"mcp", "mcp", "a pattern SERVER/TOOL of tools, or none; may be repeated (a new key without one: none)"},
	{"rates", "rate", "a rate, such as 60/min, or none; may be repeated"},
	{"budgets", "budget", "a budget, such as \"1M tokens/day\", or none; may be repeated"},
}

func (o *operator) listKeys(all bool) error {
	list := []json.RawMessage{}
	for {
		query := url.Values{"offset": {strconv.Itoa(len(list))}, "include_disabled": {strconv.FormatBool(all)}, "tenant": {o.tenant}}
		var page struct{ Data []json.RawMessage }
		if err := o.call(http.MethodGet, keysPath+"?"+query.Encode(), nil, &page); err != nil {
			return err
		}
		list = append(list, page.Data...)
		if len(page.Data) < keysPage {
			break
		}
	}
	if o.asJSON {
		return o.printJSON(list)
	}
	empty := "No keys that were made at run time, or all of them are disabled: see --all."
	if all {
		empty = "No keys that were made at run time."
	}
	shown, err := rowsOf[report.ShownKey](list)
	if err != nil {
		return err
	}
	return o.list(len(shown), empty, "HASH\tNAME\tTENANT\tKEY\tSTATE\tUSED USD\tLIMIT\tLEFT\tPERIOD\tEXPIRES", func(row func(...any)) {
		for _, v := range shown {
			row(v.Hash[:terminal.ShortHash], terminal.Printable(v.Name), v.Tenant, v.Label, v.State(time.Now()), v.Usage, numberCell(v.Limit), numberCell(v.Remaining), terminal.OrDash(v.Reset), timeCell(v.Expires))
		}
	})
}

// keysPage is the most keys of a page of the admin API.
const keysPage = 100

// change sends one request and shows the key of its answer.
func (o *operator) changeKey(method, hash, rest string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	path := keysPath
	if hash != "" {
		path += "/" + hash + rest
	} else if o.tenant != "" {
		path += "?" + url.Values{"tenant": {o.tenant}}.Encode()
	}
	var raw json.RawMessage
	if err := o.call(method, path, bytes.NewReader(text), &raw); err != nil {
		return err
	}
	if o.asJSON {
		return o.printJSON(raw) // it has the warnings
	}
	var answer struct {
		Data     report.ShownKey
		Key      string
		Warnings []string
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return err
	}
	for _, warning := range answer.Warnings {
		fmt.Fprintf(o.notes, "Warning: %s.\n", warning)
	}
	if answer.Key != "" {
		fmt.Fprintf(o.out, "The key, shown only now:\n\n%s\n\n", answer.Key)
	}
	return o.showKey(&answer.Data)
}

func (o *operator) showKey(v *report.ShownKey) error {
	return o.table("hash\t"+v.Hash, func(row func(...any)) {
		for _, line := range [][2]string{
			{"name", terminal.Printable(v.Name)}, {"tenant", v.Tenant}, {"key", v.Label}, {"state", v.State(time.Now())},
			{"used (USD)", v.Usage.String()}, {"limit (USD)", numberCell(v.Limit)}, {"left (USD)", numberCell(v.Remaining)}, {"limit reset", terminal.OrDash(v.Reset)},
			{"made", v.Created.Format(time.RFC3339)}, {"changed", timeCell(v.Updated)}, {"expires", timeCell(v.Expires)},
		} {
			row(line[0], line[1])
		}
		for _, more := range []struct{ name, text string }{
			{"old secret until", timeCell(v.Previous)}, {"scopes", strings.Join(v.Scopes, " ")}, {"models", strings.Join(v.Models, " ")}, {"mcp", strings.Join(v.Tools, " ")},
			{"rates", strings.Join(v.Rates, ", ")}, {"budgets", strings.Join(v.Budgets, ", ")}, {"concurrency", v.Concurrency},
		} {
			if more.text != "" && more.text != "-" {
				row(more.name, more.text)
			}
		}
		if v.MaxOutput != nil {
			row("output tokens", *v.MaxOutput)
		}
	})
}

func (o *operator) deleteKey(hash string) error {
	var raw json.RawMessage
	if err := o.call(http.MethodDelete, keysPath+"/"+hash, nil, &raw); err != nil {
		return err
	}
	if o.asJSON {
		return o.printJSON(raw)
	}
	_, err := fmt.Fprintln(o.out, "The key is deleted.")
	return err
}

func numberCell(n *json.Number) string {
	if n == nil {
		return "-"
	}
	return n.String()
}
