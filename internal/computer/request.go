// Package computer runs the actions of computer tools on a desktop.
//
//	request, err := computer.Parse(body) // the model's actions, as the caller has them
//	result, err := request.Run(ctx, screen)
//
// It takes the actions of OpenAI's tool and of Anthropic's as their APIs send them; one table has them
// all. Each becomes steps: presses and releases of keys and buttons, moves of the pointer, and the times
// between. The steps are made when a request is parsed, so that one that is too long is refused before
// anything happens. What is typed is in no error.
package computer

import (
	"image"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/screen"
)

const (
	// MaxBody bounds a request, in bytes: MaxTyped characters outside the BMP, written as escapes, are half
	// of it.
	MaxBody = 256 << 10
	// MaxActions bounds the actions of a request, MaxTyped the characters that they type.
	MaxActions = 100
	MaxTyped   = 10_000
	// maxTime bounds how long the actions of a request take, without the picture.
	maxTime = 5 * time.Minute

	// The picture is taken when nothing has changed for a while, or at the end of a longer one.
	defaultQuiet, maxQuiet   = 300 * time.Millisecond, 10 * time.Second
	defaultSettle, maxSettle = 3 * time.Second, time.Minute
	maxKnown                 = 256 // bytes of ETags
)

// Request is what a caller wants done.
type Request struct {
	actions []action
	plan    plan

	// space is how large the desktop is in the caller's coordinates; zero: they are its own pixels.
	space image.Point
	want  screen.Want
}

// Parse reads a request: {"actions":[…]} with the actions of a computer_call, {"action":{…}} with the
// only one of an older computer_call, or the input of a tool_use, {"action":"left_click",…}. Besides, each
// may have "space" and "screenshot". Every error is an [*apierror.Error] that names the member.
func Parse(body []byte) (*Request, error) {
	list, err := jsonscan.Strict(body, nil)
	if err != nil {
		return nil, apierror.New(apierror.InvalidJSON, "the request body is not acceptable JSON: %v", err)
	}
	r := &Request{want: screen.Want{Quiet: defaultQuiet, Max: defaultSettle}}
	var own []jsonscan.Member // of the request itself, where it is one action
	for _, m := range list {
		value := m.Value(body)
		switch name := string(m.Key(body)); {
		case name == "space" || name == "screenshot":
			err = r.readOptions(value, name)
		case name == "actions" && m.Kind == '[':
			err = r.readActions(value)
		case name == "actions":
			err = wrong("", name, "a list of actions")
		case name == "action" && m.Kind == '{':
			err = r.readObject(value, name)
		default:
			own = append(own, m)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(own) > 0 {
		if len(r.actions) > 0 { // nothing else may stand beside a list
			return nil, unknown("", string(own[0].Key(body)))
		}
		err = r.read(body, own, "")
	}
	if err == nil && len(r.actions) == 0 {
		err = missing("actions", "at least one action")
	}
	if err != nil {
		return nil, err
	}
	r.plan.left = maxTime
	for i := range r.actions {
		if err := r.plan.add(&r.actions[i]); err != nil {
			return nil, err
		}
	}
	r.want.Region = r.plan.region
	return r, nil
}

func (r *Request) readActions(list []byte) error {
	for span := range jsonscan.AllElements(list) {
		if err := r.readObject(span.Value(list), index("actions", len(r.actions))); err != nil {
			return err
		}
	}
	return nil
}

// readObject reads an action that is an object of its own.
func (r *Request) readObject(object []byte, name string) error {
	list, err := objectMembers(object, name)
	if err != nil {
		return err
	}
	return r.read(object, list, name)
}

func objectMembers(object []byte, name string) ([]jsonscan.Member, error) {
	list, err := jsonscan.Strict(object, nil)
	if err != nil {
		err = apierror.New(apierror.InvalidJSON, "%s is not an acceptable object: %v", name, err).WithParam(name)
	}
	return list, err
}

// read reads the members of an action.
func (r *Request) read(object []byte, list []jsonscan.Member, name string) error {
	if len(r.actions) == MaxActions {
		return wrong("", "actions", "at most 100 actions")
	}
	a := action{name: name}
	for _, by := range []string{"type", "action"} {
		if i, ok := jsonscan.Find(object, list, by); ok {
			kind, _ := jsonscan.String(list[i].Value(object))
			if a.row = rowOf(by, kind); a.row == nil {
				return wrong(name, by, "an action of OpenAI's or Anthropic's computer tool")
			}
			list = append(list[:i:i], list[i+1:]...)
			break
		}
	}
	if a.row == nil {
		return missing(join(name, "type"), "an action of OpenAI's or Anthropic's computer tool")
	}
	for _, m := range list {
		member, value := string(m.Key(object)), m.Value(object)
		switch {
		case jsonscan.IsNull(value): // SDKs write members so that are not there
		case !a.row.has(member):
			return unknown(name, member)
		case !members[member].read(&a, value):
			return wrong(name, member, members[member].want)
		}
	}
	for needed := range strings.FieldsSeq(a.row.needs) {
		if i, ok := jsonscan.Find(object, list, needed); !ok || jsonscan.IsNull(list[i].Value(object)) {
			return missing(join(name, needed), members[needed].want)
		}
	}
	r.actions = append(r.actions, a)
	return nil
}

// options are the members of "space" and "screenshot".
var options = map[string]struct {
	want string
	read func(r *Request, value []byte) bool
}{
	"space.width":           {sideWant, func(r *Request, v []byte) bool { return within(v, &r.space.X, 1, maxSide) }},
	"space.height":          {sideWant, func(r *Request, v []byte) bool { return within(v, &r.space.Y, 1, maxSide) }},
	"screenshot.max_width":  {sideWant, func(r *Request, v []byte) bool { return within(v, &r.want.MaxWidth, 1, maxSide) }},
	"screenshot.max_height": {sideWant, func(r *Request, v []byte) bool { return within(v, &r.want.MaxHeight, 1, maxSide) }},
	"screenshot.quiet_ms":   {"milliseconds, 0 to 10000", func(r *Request, v []byte) bool { return millis(v, &r.want.Quiet, maxQuiet) }},
	"screenshot.max_ms":     {"milliseconds, 0 to 60000", func(r *Request, v []byte) bool { return millis(v, &r.want.Max, maxSettle) }},
	"screenshot.known": {"the sha256 of a picture", func(r *Request, v []byte) bool {
		return decoded(v, &r.want.Known) && len(r.want.Known) <= maxKnown
	}},
}

const sideWant = "pixels, 1 to 65536"

func millis(value []byte, dst *time.Duration, most time.Duration) bool {
	var n int
	ok := within(value, &n, 0, most.Milliseconds())
	*dst = time.Duration(n) * time.Millisecond
	return ok
}

func (r *Request) readOptions(object []byte, name string) error {
	if jsonscan.IsNull(object) {
		return nil
	}
	list, err := objectMembers(object, name)
	if err != nil {
		return err
	}
	for _, m := range list {
		member, value := string(m.Key(object)), m.Value(object)
		o, known := options[join(name, member)]
		switch {
		case !known:
			return unknown(name, member)
		case !jsonscan.IsNull(value) && !o.read(r, value):
			return wrong(name, member, o.want)
		}
	}
	if name == "space" && (r.space.X == 0 || r.space.Y == 0) {
		return missing(name, "width and height, in pixels")
	}
	return nil
}
