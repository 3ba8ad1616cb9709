package computer

import (
	"encoding/json"
	"image"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// row is one action of a vendor's computer tool: which members it has, and what it does.
type row struct {
	// by is the member that names the action: "type" in OpenAI's (computer_call.actions), "action"
	// in Anthropic's (tool_use.input of computer_20250124, _20251124 and of the toolset's members).
	by, name string
	// needs and takes are its members, those that must be there and others.
	needs, takes string
	button       uint8 // that is pressed, if no member says it
	clicks       int
	do           func(*plan, *action)
}

// rows are the actions of both vendors (openai 2.30 responses/computer_action.py; anthropic 2.13
// beta_computer_*_input.py and the reference implementation of both tools). "key" as a held key is that
// of the reference implementation, "via" and "paste_key" are ours.
var rows = []row{
	{"type", "click", "x y button", "keys", 0, 1, (*plan).click},
	{"type", "double_click", "x y", "keys", buttonLeft, 2, (*plan).click},
	{"type", "drag", "path", "keys", buttonLeft, 0, (*plan).drag},
	{"type", "keypress", "keys", "", 0, 0, (*plan).keypress},
	{"type", "move", "x y", "keys", 0, 0, (*plan).move},
	{"type", "screenshot", "", "", 0, 0, (*plan).nothing},
	{"type", "scroll", "x y scroll_x scroll_y", "keys", 0, 0, (*plan).scroll},
	{"type", "type", "text", "via paste_key", 0, 0, (*plan).typeText},
	{"type", "wait", "", "", 0, 0, (*plan).wait},

	{"action", "key", "text", "repeat", 0, 0, (*plan).keypress},
	{"action", "hold_key", "text duration", "", 0, 0, (*plan).holdKey},
	{"action", "type", "text", "via paste_key", 0, 0, (*plan).typeText},
	{"action", "cursor_position", "", "", 0, 0, (*plan).nothing},
	{"action", "mouse_move", "coordinate", "", 0, 0, (*plan).move},
	{"action", "left_click", "", "coordinate text key", buttonLeft, 1, (*plan).click},
	{"action", "right_click", "", "coordinate text key", buttonRight, 1, (*plan).click},
	{"action", "middle_click", "", "coordinate text key", buttonMiddle, 1, (*plan).click},
	{"action", "double_click", "", "coordinate text key", buttonLeft, 2, (*plan).click},
	{"action", "triple_click", "", "coordinate text key", buttonLeft, 3, (*plan).click},
	{"action", "left_click_drag", "coordinate", "start_coordinate text key", buttonLeft, 0, (*plan).drag},
	{"action", "left_mouse_down", "", "", buttonLeft, 0, (*plan).mouseDown},
	{"action", "left_mouse_up", "", "", buttonLeft, 0, (*plan).mouseUp},
	{"action", "scroll", "scroll_direction scroll_amount", "coordinate text key", 0, 0, (*plan).scroll},
	{"action", "wait", "duration", "", 0, 0, (*plan).wait},
	{"action", "screenshot", "", "", 0, 0, (*plan).nothing},
	{"action", "zoom", "region", "", 0, 0, (*plan).zoom},
}

// The buttons of a PointerEvent (RFC 6143, 7.5.5): the wheel is four of them.
const (
	buttonLeft uint8 = 1 << iota
	buttonMiddle
	buttonRight
	wheelUp
	wheelDown
	wheelLeft
	wheelRight
)

// action is one action as a caller sent it.
type action struct {
	row  *row
	name string // in errors: "actions[2]", or "" for the whole request

	at, start *image.Point // in the caller's space; nil: where the pointer is
	path      []image.Point
	region    image.Rectangle
	button    uint8
	wheel     struct {
		by, towards image.Point
		amount      int
	} // clicks to the right and down
	keys       []string
	text, key  string
	repeat     int
	duration   time.Duration
	via, paste string
}

// members say how each member of an action is read, and what it must be.
var members = map[string]struct {
	want string
	read func(a *action, value []byte) bool
}{
	"x":                {"a whole number", func(a *action, v []byte) bool { return whole(v, &a.place().X) }},
	"y":                {"a whole number", func(a *action, v []byte) bool { return whole(v, &a.place().Y) }},
	"coordinate":       {"two whole numbers", func(a *action, v []byte) bool { return wholes(v, &a.place().X, &a.place().Y) }},
	"start_coordinate": {"two whole numbers", func(a *action, v []byte) bool { a.start = new(image.Point); return wholes(v, &a.start.X, &a.start.Y) }},
	"path":             {"2 to 100 objects with x and y", readPath},
	"region":           {"four whole numbers, of which the third and fourth are larger", readRegion},
	"button":           {"left, right or wheel (a VNC server has no back and forward; press ALT and LEFT)", readButton},
	"keys":             {"names of keys, 1 to 10", func(a *action, v []byte) bool { return decoded(v, &a.keys) && len(a.keys) <= maxChord }},
	"text":             {"a string", func(a *action, v []byte) bool { return decoded(v, &a.text) }},
	"key":              {"a string", func(a *action, v []byte) bool { return decoded(v, &a.key) }},
	"scroll_x":         {"pixels, at most 10000", func(a *action, v []byte) bool { return pixels(v, &a.wheel.by.X) }},
	"scroll_y":         {"pixels, at most 10000", func(a *action, v []byte) bool { return pixels(v, &a.wheel.by.Y) }},
	"scroll_direction": {"up, down, left or right", readDirection},
	"scroll_amount":    {"clicks of the wheel, 0 to 100", func(a *action, v []byte) bool { return within(v, &a.wheel.amount, 0, maxWheel) }},
	"repeat":           {"a number from 1 to 100", func(a *action, v []byte) bool { return within(v, &a.repeat, 1, maxRepeat) }},
	"duration":         {"seconds, 0 to 300", readDuration},
	"via":              {`"keys" or "paste"`, func(a *action, v []byte) bool { return decoded(v, &a.via) && (a.via == "keys" || a.via == "paste") }},
	"paste_key":        {`a combination such as "ctrl+v" or "shift+Insert"`, func(a *action, v []byte) bool { return decoded(v, &a.paste) }},
}

const (
	maxPath     = 100 // points of a drag
	maxChord    = 10  // keys at once: a person has as many fingers
	maxWheel    = 100 // clicks of the wheel in one action
	maxRepeat   = 100
	wheelPixels = 100 // of OpenAI's scroll are a click
)

// place returns where the action is, for one of its coordinates.
func (a *action) place() *image.Point {
	if a.at == nil {
		a.at = new(image.Point)
	}
	return a.at
}

func decoded(value []byte, dst any) bool { return json.Unmarshal(value, dst) == nil }

// whole reads a number without a fraction. Larger ones than a desktop has pixels are read as that: they
// are outside.
func whole(value []byte, dst *int) bool {
	n, ok := jsonscan.Int(value)
	*dst = int(max(-1, min(n, maxSide)))
	return ok
}

// maxSide bounds a coordinate: RFB has 16 bits for it.
const maxSide = 1 << 16

func wholes(value []byte, dst ...*int) bool {
	var parts []json.RawMessage
	if !decoded(value, &parts) || len(parts) != len(dst) {
		return false
	}
	for i := range dst {
		if !whole(parts[i], dst[i]) {
			return false
		}
	}
	return true
}

func within(value []byte, dst *int, least, most int64) bool {
	n, ok := jsonscan.Int(value)
	*dst = int(n)
	return ok && n >= least && n <= most
}

// pixels reads a distance as clicks of the wheel, at least one for any distance.
func pixels(value []byte, clicks *int) bool {
	var n int
	if !within(value, &n, -maxWheel*wheelPixels, maxWheel*wheelPixels) {
		return false
	}
	switch {
	case n > 0:
		*clicks = max(1, (n+wheelPixels/2)/wheelPixels)
	case n < 0:
		*clicks = min(-1, (n-wheelPixels/2)/wheelPixels)
	}
	return true
}

func readPath(a *action, value []byte) bool {
	var points []struct{ X, Y json.RawMessage }
	if !decoded(value, &points) || len(points) < 2 || len(points) > maxPath {
		return false
	}
	a.path = make([]image.Point, len(points))
	for i, p := range points {
		if !whole(p.X, &a.path[i].X) || !whole(p.Y, &a.path[i].Y) {
			return false
		}
	}
	return true
}

func readRegion(a *action, value []byte) bool {
	r := &a.region
	return wholes(value, &r.Min.X, &r.Min.Y, &r.Max.X, &r.Max.Y) && !r.Empty()
}

func readButton(a *action, value []byte) bool {
	name, _ := jsonscan.String(value)
	a.button = map[string]uint8{"left": buttonLeft, "right": buttonRight, "wheel": buttonMiddle}[name]
	return a.button != 0
}

func readDirection(a *action, value []byte) bool {
	name, _ := jsonscan.String(value)
	a.wheel.towards = map[string]image.Point{"up": {Y: -1}, "down": {Y: 1}, "left": {X: -1}, "right": {X: 1}}[name]
	return a.wheel.towards != image.Point{}
}

func readDuration(a *action, value []byte) bool {
	var seconds float64
	if !decoded(value, &seconds) || seconds < 0 || seconds > maxTime.Seconds() {
		return false
	}
	a.duration = time.Duration(seconds * float64(time.Second))
	return true
}

// rowOf finds the row of an action, nil if there is none.
func rowOf(by, name string) *row {
	if i := slices.IndexFunc(rows, func(r row) bool { return r.by == by && r.name == name }); i >= 0 {
		return &rows[i]
	}
	return nil
}

// has reports whether the action has a member.
func (r *row) has(member string) bool {
	return slices.Contains(strings.Fields(r.needs+" "+r.takes), member)
}
