//go:build linux

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
)

// keys checks keys, and clicks of the wheel, that servers take in ways of their own.
func keys(a *agent, ctx context.Context) {
	const leftTab = 0xfe20
	back := `{"action":"key","text":"shift+Tab"}`
	if a.desk.form == nil {
		before := a.desk.log()
		err := a.api.acts(ctx, back, typing("z"))
		if err == nil {
			err = arrives(ctx, func() error { return has(strings.TrimPrefix(a.desk.log(), before), a.desk.leftTab) })
		}
		a.Check("shift and Tab arrive as the key that they are", err)
		return
	}
	if !a.Must("the form is empty", a.desk.form.Clear()) {
		return
	}
	err := a.api.acts(ctx, click(desktop.FormNote), back)
	if err == nil {
		err = arrives(ctx, func() error {
			return got(a.desk.form, func(in desktop.Input) bool { return in.Symbol == leftTab && in.Down }, 1)
		})
	}
	a.Check("shift and Tab arrive as the key that they are", err)

	const right, left = 7, 6
	clicks := 0
	if a.desk.sideways {
		clicks = 2
	}
	scroll := action("scroll", map[string]any{"x": 500, "y": 400, "scroll_x": 200, "scroll_y": 0})
	err = a.api.acts(ctx, scroll, `{"action":"scroll","coordinate":[500,400],"scroll_direction":"left","scroll_amount":2}`, typing("z"))
	for _, button := range []byte{right, left} {
		if err == nil {
			err = arrives(ctx, func() error {
				return got(a.desk.form, func(in desktop.Input) bool { return in.Button == button && in.Down }, clicks)
			})
		}
	}
	a.Check(fmt.Sprintf("the wheel clicks %d times to the right and to the left", clicks), err)
	a.Check("no key is held afterwards", a.free(ctx))
}

// got checks how many events of a kind have come.
func got(f *desktop.Form, kind func(desktop.Input) bool, want int) error {
	n := 0
	log := f.Log()
	for _, in := range log {
		if kind(in) {
			n++
		}
	}
	if n != want {
		return fmt.Errorf("%d of %d have come: %+v", n, want, log)
	}
	return nil
}

func has(text, part string) error {
	if !strings.Contains(text, part) {
		return fmt.Errorf("%q has come, without %q", text, part)
	}
	return nil
}

// others checks that the answer names characters other than ASCII, and which servers type them.
func others(a *agent, ctx context.Context) {
	if a.desk.form == nil || !a.Must("the form is empty", a.desk.form.Clear()) {
		return
	}
	const text = "üb中"
	if err := a.api.acts(ctx, click(desktop.FormName)); !a.Must("a field is chosen", err) {
		return
	}
	seen, err := a.api.act(ctx, typing(text))
	if err == nil && seen.Unconfirmed != "ü中" {
		err = fmt.Errorf("it names %q", seen.Unconfirmed)
	}
	a.Check("the answer names characters that may not have been typed", err)
	want := map[bool]string{true: text, false: "b"}[a.desk.addsKeys]
	if err == nil {
		err = arrives(ctx, func() error { return same(a.desk.form.Contents().Name, want) })
	}
	a.Check(fmt.Sprintf("%q arrives", want), err)
}
