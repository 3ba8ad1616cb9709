//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"image"

	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
)

// The calls of vendors' computer tools, as their documentation has them: OpenAI's guide "Computer use",
// and Anthropic's page "Computer use tool" with its older and newer actions. They are posted unedited.
var (
	openAICall = `{"type":"computer_call","call_id":"call_001","actions":[
		{"type":"click","button":"left","x":405,"y":157},
		{"type":"type","text":"penguin"}]}`
	anthropicCalls = []string{
		`{"action":"left_click","coordinate":[500,300]}`,
		`{"action":"type","text":"Hello, world!"}`,
		`{"action":"scroll","coordinate":[500,400],"scroll_direction":"down","scroll_amount":3}`,
		`{"action":"left_click","coordinate":[500,300],"text":"shift"}`,
		`{"action":"mouse_move","coordinate":[500,400]}`,
		`{"action":"key","text":"ctrl+s"}`,
		`{"action":"screenshot"}`,
	}
)

// fills fills the form by the calls of both vendors' documentation.
func (a *agent) fills(ctx context.Context) {
	if a.desk.form == nil || !a.Must("the form is empty", a.desk.form.Clear()) {
		return
	}
	actions, err := actionsOf(openAICall)
	if err == nil {
		err = a.api.acts(ctx, append([]string{actions}, anthropicCalls...)...)
	}
	want := desktop.Contents{Name: "penguin", Note: "Hello, world!", Top: 9, Chosen: desktop.NoRow}
	a.Check("the calls of both vendors' documentation fill the form", a.has(ctx, err, want))

	want.Agreed, want.Chosen, want.Sent, want.Name = true, 11, 2, "pen guin"
	double := desktop.FormName.Min.Add(image.Pt(9, 9))
	err = a.api.acts(ctx,
		click(desktop.FormAgreed),
		action("scroll", map[string]any{"x": 500, "y": 400, "scroll_x": 0, "scroll_y": 200}),
		action("scroll", map[string]any{"x": 500, "y": 400, "scroll_x": 0, "scroll_y": -200}),
		click(image.Rect(300, 398, 900, 422)),
		fmt.Sprintf(`{"action":"triple_click","coordinate":[%d,%d]}`, double.X, double.Y),
		typing("pen guins"),
		action("keypress", map[string]any{"keys": []string{"BACKSPACE"}}),
		click(desktop.FormSend),
		action("keypress", map[string]any{"keys": []string{"ENTER"}}),
	)
	a.Check("ticks, rows, the wheel, three clicks and keys do what they do", a.has(ctx, err, want))
	a.Check("the form is seen as it is, pixel by pixel", a.sees(ctx))
}

// actionsOf is what a loop posts of a call: its actions.
func actionsOf(call string) (string, error) {
	var has struct {
		Actions json.RawMessage `json:"actions"`
	}
	if err := json.Unmarshal([]byte(call), &has); err != nil {
		return "", err
	}
	text, err := json.Marshal(has)
	return string(text), err
}

// has waits until the form is as wanted, unless there was an error before.
func (a *agent) has(ctx context.Context, err error, want desktop.Contents) error {
	if err != nil {
		return err
	}
	return arrives(ctx, func() error {
		if got := a.desk.form.Contents(); got != want {
			return fmt.Errorf("the form has %+v, not %+v", got, want)
		}
		return nil
	})
}
