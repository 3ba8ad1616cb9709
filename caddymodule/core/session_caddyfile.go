package core

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// sessionOption reads the session rules of a level:
//
//	session {
//		view_only
//		shared on|off
//		clipboard_in on|off
//		clipboard_out on|off
//		fps NUMBER
//		idle_timeout DURATION
//		max_duration DURATION
//		bandwidth NUMBER[k|M|G]bit
//		max_guests NUMBER
//		record off|on|required
//		automation off|view|control
//	}
func sessionOption(r *desktop.SessionRules) caddykit.Option {
	return caddykit.Option{Read: func(d *caddyfile.Dispenser) error {
		if d.NextArg() {
			return d.ArgErr()
		}
		return caddykit.Options{
			"view_only":     caddykit.Flag(&r.ViewOnly),
			"shared":        caddykit.Value(&r.NotShared, parseOff),
			"clipboard_in":  caddykit.Value(&r.NoClipboardIn, parseOff),
			"clipboard_out": caddykit.Value(&r.NoClipboardOut, parseOff),
			"fps":           caddykit.Value(&r.FPS, caddykit.ParseCount),
			"idle_timeout":  caddykit.Value(&r.IdleTimeout, parseSeconds),
			"max_duration":  caddykit.Value(&r.MaxDuration, parseSeconds),
			"bandwidth":     caddykit.Value(&r.Bandwidth, parseBits),
			"max_guests":    caddykit.Value(&r.MaxGuests, parseGuests),
			"record":        caddykit.Value(&r.Record, desktop.ParseRecord),
			"automation":    caddykit.Value(&r.Automation, desktop.ParseAutomation),
		}.Block(d)
	}}
}

func parseOff(text string) (off bool, err error) {
	on, err := caddykit.ParseSwitch(text)
	return !on, err
}

func parseSeconds(text string) (time.Duration, error) {
	d, err := caddykit.ParseDuration(text)
	if err == nil && time.Duration(d)%time.Second != 0 {
		err = fmt.Errorf("%q: want whole seconds", text)
	}
	return time.Duration(d), err
}

// parseBits reads bits a second: 500kbit, 20Mbit, 1Gbit.
func parseBits(text string) (int64, error) {
	digits, ok := strings.CutSuffix(text, "bit")
	unit := int64(1)
	for i, letter := range []string{"k", "M", "G"} {
		if number, has := strings.CutSuffix(digits, letter); has {
			digits = number
			for range i + 1 {
				unit *= 1000
			}
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 32)
	if !ok || err != nil || n < 1 {
		return 0, fmt.Errorf("%q: want bits a second, such as 500kbit, 20Mbit or 1Gbit", text)
	}
	return n * unit, nil
}

func parseGuests(text string) (int, error) {
	if text == "0" {
		return desktop.NoGuests, nil
	}
	return caddykit.ParseCount(text)
}
