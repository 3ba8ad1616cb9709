package cli

import (
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/gatehouse-proxy/gatehouse/internal/terminal"
)

const signInsPath = "/gatehouse/sign-ins"

// newSignInsCommand is `caddy gatehouse sign-ins …`.
func newSignInsCommand() *cobra.Command {
	o := new(operator)
	cmd := group(&cobra.Command{Use: "sign-ins", Short: "People who have signed in to programs, such as Claude Code, or have made keys"})
	list := o.command(&cobra.Command{Use: "list", Short: "Who has signed in, and who is blocked"}, func([]string) error {
		return printSignIns(o)
	})
	one := func(use, short, method, after, done string) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, Args: positional(1), RunE: func(cmd *cobra.Command, args []string) error {
			o.writeTo(cmd)
			if err := checkNames(args[0]); err != nil {
				return err
			}
			return o.change(method, signInsPath+"/"+url.PathEscape(args[0])+after, done, args[0])
		}}
	}
	o.addFlags(cmd)
	cmd.AddCommand(
		list,
		one("end USER", "End all that a person has begun, and the keys that the person has made", http.MethodDelete, "", "The sign-ins of %s have ended."),
		one("block USER", "End all of a person as end does, and keep the person out", http.MethodPut, "/block", "%s is kept out."),
		one("unblock KEY", "Let a person in again", http.MethodDelete, "/block", "%s can sign in again."),
	)
	return cmd
}

// signIns are the answer.
type signIns struct {
	SignIns []signInRow  `json:"data"`
	Blocked []blockedRow `json:"blocked"`
	Makers  []makerRow   `json:"makers"`
}

// signInRow is a sign-in of the answer, as far as the table shows it.
type signInRow struct {
	User      string    `json:"user"`
	Key       string    `json:"key"`
	Role      string    `json:"role"`
	Client    string    `json:"client"`
	Address   string    `json:"address"`
	Created   time.Time `json:"created_at"`
	Refreshed time.Time `json:"refreshed_at"`
	Ends      time.Time `json:"ends_at"`
}

// makerRow is somebody who has made keys.
type makerRow struct {
	User string `json:"user"`
	Key  string `json:"key"`
	Keys int    `json:"keys"`
}

// blockedRow is somebody who is kept out.
type blockedRow struct {
	Key   string    `json:"key"`
	Since time.Time `json:"since"`
}

func printSignIns(o *operator) error {
	return show(o, signInsPath, func(all *signIns) error {
		now := time.Now()
		const header = "USER\tKEY\tROLE\tCLIENT\tADDRESS\tSIGNED IN\tREFRESHED\tENDS"
		err := o.list(len(all.SignIns), "Nobody has signed in.", header, func(row func(...any)) {
			for _, s := range all.SignIns {
				row(terminal.KeyName(s.User), s.Key, s.Role, s.Client, s.Address, shortDuration(now.Sub(s.Created))+" ago",
					shortDuration(now.Sub(s.Refreshed))+" ago", "in "+shortDuration(s.Ends.Sub(now)))
			}
		})
		if err == nil && len(all.Makers) > 0 {
			err = o.list(len(all.Makers), "", "HAS MADE KEYS\tKEY\tKEYS", func(row func(...any)) {
				for _, m := range all.Makers {
					row(terminal.KeyName(m.User), m.Key, m.Keys)
				}
			})
		}
		if err != nil || len(all.Blocked) == 0 {
			return err
		}
		return o.list(len(all.Blocked), "", "BLOCKED\tSINCE", func(row func(...any)) {
			for _, b := range all.Blocked {
				row(b.Key, b.Since.Format(time.DateTime))
			}
		})
	})
}
