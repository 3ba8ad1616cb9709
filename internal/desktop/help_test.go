package desktop_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

func TestARequestForHelpWaitsForAPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var helped []map[string]any
		d := shared(t, func(c *desktop.Config) {
			c.Emit = func(event string, data map[string]any) {
				if event == desktop.EventHelp {
					helped = append(helped, data)
				}
			}
		})
		key := func(name string) desktop.Issuer { by := dev; by.Key = name; return by }
		notes := func() (notes []string) {
			for _, r := range wantControl(t, d, "none", "").Requests {
				notes = append(notes, r.Key+": "+r.Note)
			}
			return notes
		}
		for _, note := range []string{strings.Repeat("x", desktop.MaxNote+1), "\x1b[2J", "\xff"} {
			_, err := d.Input.RequestHelp(key("bot"), "desk1", note)
			wantFault(t, err, apierror.InvalidValue, "note")
		}
		for _, note := range []string{"a code", "a code\nby telephone"} { // no session is there
			if _, err := d.Input.RequestHelp(key("bot"), "desk1", note); err != nil {
				t.Fatal(err)
			}
		}
		if got := notes(); !slices.Equal(got, []string{"bot: a code\nby telephone"}) {
			t.Errorf("%q", got)
		}
		if want := (map[string]any{"tenant": "default", "workstation": "desk1", "key": "bot", "note": "a code"}); len(helped) != 2 || !maps.Equal(helped[0], want) {
			t.Errorf("events %v", helped)
		}
		for i := range 10 {
			_, _ = d.Input.RequestHelp(key(fmt.Sprint(i)), "desk1", "")
		}
		if got := notes(); len(got) != 8 || got[7] != "9: " {
			t.Errorf("%q", got)
		}
		agent := agentOf(t, d, "bot")
		person := personOf(t, d, "ann")
		agent.Leave()
		if len(notes()) != 8 {
			t.Error("they were lost")
		}
		_, err := d.Input.Take(key("ann"), "desk1", "")
		if c := wantControl(t, d, "human", "ann"); err != nil || len(c.Requests) != 8 {
			t.Error("the person must know what to do")
		}
		_, _ = d.Input.Return(key("ann"), "desk1", false)
		if got := notes(); len(got) > 0 {
			t.Errorf("%q is done", got)
		}
		_, _ = d.Input.RequestHelp(key("bot"), "desk1", "still")
		time.Sleep(24*time.Hour - 1)
		if len(notes()) != 1 {
			t.Error("it was forgotten early")
		}
		if time.Sleep(time.Nanosecond); len(notes()) != 0 {
			t.Error("it is there for ever")
		}
		person.Leave()
	})
}
