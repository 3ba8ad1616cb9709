package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
	"github.com/gatehouse-proxy/gatehouse/internal/terminal"
)

// newKeyCommands are `caddy gatehouse key …` for the keys that the running Caddy makes.
func newKeyCommands() []*cobra.Command {
	k := new(keyOperator)
	change := func(use, short string, body any) *cobra.Command {
		return k.command(use, short, 1, func(args []string) error { return k.change(http.MethodPatch, args[0], "", body) })
	}
	var all bool
	list := k.command("list", "List the keys that were made at run time, newest first", 0, func([]string) error { return k.list(all) })
	list.Flags().BoolVar(&all, "all", false, "disabled keys, too")
	list.Flags().StringVar(&k.tenant, "tenant", "", "only of this tenant (default: all)")
	list.Example = "  caddy gatehouse key list --tenant research --all"
	var grace string
	rotate := k.command("rotate HASH", "Give a key another secret; print it once", 1, func(args []string) error {
		return k.change(http.MethodPost, args[0], "/rotate", map[string]string{"grace": grace})
	})
	rotate.Example = "  caddy gatehouse key rotate eeefe1276a5c --grace 24h"
	rotate.Flags().StringVar(&grace, "grace", "0s", "how long the present secret stays good, such as 24h")
	return []*cobra.Command{
		k.createCommand(), list,
		k.command("show HASH", "Show one key", 1, func(args []string) error { return k.change(http.MethodGet, args[0], "", nil) }),
		change("disable HASH", "Disable a key: it is refused until it is enabled again", map[string]bool{"disabled": true}),
		change("enable HASH", "Enable a disabled key", map[string]bool{"disabled": false}),
		rotate,
		k.command("delete HASH", "Delete a key; what it has spent stays", 1, func(args []string) error { return k.delete(args[0]) }),
	}
}

// keyOperator manages keys through the admin endpoint.
type keyOperator struct {
	operator
	asJSON bool
}

// command returns a command with so many arguments; HASH may be the beginning of a hash.
func (k *keyOperator) command(use, short string, args int, run func(args []string) error) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Args: positional(args),
		RunE: func(cmd *cobra.Command, args []string) error {
			k.out = cmd.OutOrStdout()
			if len(args) > 0 && !isHashPrefix(args[0]) {
				return fmt.Errorf("%q is not the beginning of a hash: 4 to 64 hex digits", args[0])
			}
			return run(args)
		},
	}
	k.addFlags(cmd)
	addJSON(cmd, &k.asJSON)
	return cmd
}

func isHashPrefix(text string) bool {
	return len(text) >= 4 && len(text) <= 64 && strings.Trim(text, "0123456789abcdef") == ""
}

func (k *keyOperator) createCommand() *cobra.Command {
	var name, tenant, limit, reset, expires, concurrency string
	var lists [4][]string
	var output int64
	cmd := k.command("create --name NAME", "Make a key in the running Caddy; print its secret once", 0, func([]string) error {
		body := map[string]any{"name": name}
		for member, text := range map[string]string{"limit_reset": reset, "expires_at": expires, "concurrency": concurrency} {
			if text != "" {
				body[member] = text
			}
		}
		if limit != "" {
			var number json.Number // not NaN and the like, which JSON does not have
			if err := json.Unmarshal([]byte(limit), &number); err != nil || strings.HasPrefix(limit, `"`) {
				return fmt.Errorf("--limit %q: want a number of USD", limit)
			}
			body["limit"] = number
		}
		for i, member := range keyLists {
			if len(lists[i]) > 0 {
				body[member.name] = lists[i]
			}
		}
		if output > 0 {
			body["max_output_tokens"] = output
		}
		k.tenant = tenant
		return k.change(http.MethodPost, "", "", body)
	})
	cmd.Example = "  caddy gatehouse key create --name \"CI runner\" --limit 5 --limit-reset daily --model 'test/*'"
	cmd.Flags().StringVar(&name, "name", "", "name of the key (required)")
	_ = cmd.MarkFlagRequired("name") // it exists
	cmd.Flags().StringVar(&tenant, "tenant", keys.DefaultTenant, "the tenant that the key belongs to")
	cmd.Flags().StringVar(&limit, "limit", "", "the most that the key may spend, in USD")
	cmd.Flags().StringVar(&reset, "limit-reset", "", "daily, weekly or monthly (default: the limit is never reset)")
	cmd.Flags().StringVar(&expires, "expires", "", "the end of the key in UTC, such as 2027-01-31T18:00:00Z")
	cmd.Flags().StringVar(&concurrency, "concurrency", "", "calls at once, such as \"10 queue 20 2s\"")
	cmd.Flags().Int64Var(&output, "max-output-tokens", 0, "the longest answer that the key may ask for")
	for i, member := range keyLists {
		cmd.Flags().StringArrayVar(&lists[i], member.flag, nil, member.usage)
	}
	return cmd
}

var keyLists = [4]struct{ name, flag, usage string }{
	{"scopes", "scope", "a permission; may be repeated (default: all of runtime_keys)"},
	{"models", "model", "a pattern of models; may be repeated (default: all of runtime_keys)"},
	{"rates", "rate", "a rate, such as 60/min; may be repeated"},
	{"budgets", "budget", "a budget, such as \"1M tokens/day\"; may be repeated"},
}

func (k *keyOperator) list(all bool) error {
	list := []json.RawMessage{}
	for {
		query := url.Values{"offset": {strconv.Itoa(len(list))}, "include_disabled": {strconv.FormatBool(all)}, "tenant": {k.tenant}}
		var page struct{ Data []json.RawMessage }
		if err := k.call(http.MethodGet, keysPath+"?"+query.Encode(), nil, &page); err != nil {
			return err
		}
		list = append(list, page.Data...)
		if len(page.Data) < keysPage {
			break
		}
	}
	if k.asJSON {
		return k.printJSON(list)
	}
	if len(list) == 0 {
		text := "No keys that were made at run time, or all of them are disabled: see --all."
		if all {
			text = "No keys that were made at run time."
		}
		_, err := fmt.Fprintln(k.out, text)
		return err
	}
	shown := make([]report.ShownKey, len(list))
	for i, raw := range list {
		if err := json.Unmarshal(raw, &shown[i]); err != nil {
			return fmt.Errorf("reading the answer: %w", err)
		}
	}
	return k.table("HASH\tNAME\tTENANT\tKEY\tSTATE\tUSED USD\tLIMIT\tLEFT\tPERIOD\tEXPIRES", func(row func(...any)) {
		for _, v := range shown {
			row(v.Hash[:terminal.ShortHash], terminal.Printable(v.Name), v.Tenant, v.Label, v.State(time.Now()), v.Usage, numberCell(v.Limit), numberCell(v.Remaining), terminal.OrDash(v.Reset), timeCell(v.Expires))
		}
	})
}

// keysPage is the most keys of a page of the admin API.
const keysPage = 100

// change sends one request and shows the key of its answer.
func (k *keyOperator) change(method, hash, rest string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	path := keysPath
	if hash != "" {
		path += "/" + hash + rest
	} else if k.tenant != "" {
		path += "?" + url.Values{"tenant": {k.tenant}}.Encode()
	}
	var raw json.RawMessage
	if err := k.call(method, path, bytes.NewReader(text), &raw); err != nil {
		return err
	}
	if k.asJSON {
		return k.printJSON(raw)
	}
	var answer struct {
		Data report.ShownKey
		Key  string
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return err
	}
	if answer.Key != "" {
		fmt.Fprintf(k.out, "The key, shown only now:\n\n%s\n\n", answer.Key)
	}
	return k.show(&answer.Data)
}

func (k *keyOperator) show(v *report.ShownKey) error {
	return k.table("hash\t"+v.Hash, func(row func(...any)) {
		for _, line := range [][2]string{
			{"name", terminal.Printable(v.Name)}, {"tenant", v.Tenant}, {"key", v.Label}, {"state", v.State(time.Now())},
			{"used (USD)", v.Usage.String()}, {"limit (USD)", numberCell(v.Limit)}, {"left (USD)", numberCell(v.Remaining)}, {"limit reset", terminal.OrDash(v.Reset)},
			{"made", v.Created.Format(time.RFC3339)}, {"changed", timeCell(v.Updated)}, {"expires", timeCell(v.Expires)},
		} {
			row(line[0], line[1])
		}
		for _, more := range []struct{ name, text string }{
			{"old secret until", timeCell(v.Previous)}, {"scopes", strings.Join(v.Scopes, " ")}, {"models", strings.Join(v.Models, " ")},
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

func (k *keyOperator) delete(hash string) error {
	var raw json.RawMessage
	if err := k.call(http.MethodDelete, keysPath+"/"+hash, nil, &raw); err != nil {
		return err
	}
	if k.asJSON {
		return k.printJSON(raw)
	}
	_, err := fmt.Fprintln(k.out, "The key is deleted.")
	return err
}

func numberCell(n *json.Number) string {
	if n == nil {
		return "-"
	}
	return n.String()
}
