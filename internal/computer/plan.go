package computer

import (
	"fmt"
	"image"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// op is what a step does.
type op uint8

const (
	wait op = iota
	move
	press // of buttons
	release
	keyDown
	keyUp
	cut
)

// step is one thing that a desktop is sent, and the time after it.
type step struct {
	do     op
	to     image.Point // of a move, in the caller's space
	moves  int         // on the way there
	button uint8
	keysym uint32
	text   string
	typed  int // characters
	pause  time.Duration
}

// plan are the steps of a request.
type plan struct {
	steps []step
	ends  []int // behind the last step of each action
	left  time.Duration
	keys  int    // events so far
	typed int    // characters so far
	other []rune // each character other than ASCII that a key types, once

	region image.Rectangle // the part of the picture that the last action wants, in the caller's space

	action *action // whose steps are made
	err    *apierror.Error
}

// The times between steps.
const (
	// pressTime is how long a button or a combination of keys is held, and the pause between two clicks:
	// desktops take two within 250 ms or more as a double click.
	pressTime = 50 * time.Millisecond
	moveTime  = 10 * time.Millisecond
	// wheelTime is half of a click of the wheel.
	wheelTime = 10 * time.Millisecond
	// keyTime is that after each press and release of a key, for the first fastKeys of a request. QEMU
	// plays one each 10 ms, and drops keys when 340 wait: from there on slowKeyTime is its own pace.
	keyTime, slowKeyTime = 5 * time.Millisecond, 10 * time.Millisecond
	fastKeys             = 512
	// pasteTime is what a desktop has to take over a clipboard.
	pasteTime = 100 * time.Millisecond
	// waitTime is how long OpenAI's "wait" takes, as in its examples.
	waitTime = 2 * time.Second
	// dragMoves are the moves of a drag; each part of a path has at least one.
	dragMoves = 50
)

// add makes the steps of an action.
func (p *plan) add(a *action) error {
	p.action, p.region = a, image.Rectangle{}
	a.row.do(p, a)
	if p.err != nil {
		return p.err
	}
	p.ends = append(p.ends, len(p.steps))
	return nil
}

// fail refuses a member of the action. The first refusal counts.
func (p *plan) fail(member, want string) {
	if p.err == nil {
		p.err = wrong(p.action.name, member, want)
	}
}

func (p *plan) step(s step) {
	p.left -= s.pause * time.Duration(max(1, s.moves))
	if p.left < 0 && p.err == nil {
		p.err = wrong("", orAction(p.action.name), fmt.Sprintf("actions that take at most %.0f s together; send the others later", maxTime.Seconds()))
	}
	if p.err == nil {
		p.steps = append(p.steps, s)
	}
}

func orAction(name string) string {
	if name == "" {
		return "action"
	}
	return name
}

func (p *plan) click(a *action) {
	button := a.row.button | a.button
	p.moveTo(a.at)
	p.holding(p.held(a), func() {
		for range a.row.clicks {
			p.step(step{do: press, button: button, pause: pressTime})
			p.step(step{do: release, button: button, pause: pressTime})
		}
	})
}

func (p *plan) move(a *action) { p.holding(p.held(a), func() { p.moveTo(a.at) }) }

// moveTo moves the pointer; nil is where it is.
func (p *plan) moveTo(at *image.Point) {
	if at != nil {
		p.step(step{do: move, to: *at, moves: 1, pause: moveTime})
	}
}

func (p *plan) drag(a *action) {
	path, start := a.path, a.start
	if len(path) > 0 {
		start, path = &path[0], path[1:]
	} else {
		path = []image.Point{*a.at}
	}
	p.moveTo(start)
	p.holding(p.held(a), func() {
		p.step(step{do: press, button: buttonLeft, pause: pressTime})
		for _, to := range path {
			p.step(step{do: move, to: to, moves: max(1, dragMoves/len(path)), pause: moveTime})
		}
		p.step(step{do: wait, pause: pressTime}) // so that the target sees it before it is dropped
		p.step(step{do: release, button: buttonLeft, pause: pressTime})
	})
}

func (p *plan) mouseDown(a *action) {
	p.step(step{do: press, button: a.row.button, pause: pressTime})
}
func (p *plan) mouseUp(a *action) {
	p.step(step{do: release, button: a.row.button, pause: pressTime})
}

func (p *plan) scroll(a *action) {
	by := a.wheel.by.Add(a.wheel.towards.Mul(a.wheel.amount))
	p.moveTo(a.at)
	p.holding(p.held(a), func() {
		p.wheel(by.Y, wheelUp, wheelDown)
		p.wheel(by.X, wheelLeft, wheelRight)
	})
}

// wheel clicks the wheel so many times, back if that is negative.
func (p *plan) wheel(clicks int, back, forth uint8) {
	button := forth
	if clicks < 0 {
		button, clicks = back, -clicks
	}
	for range clicks {
		p.step(step{do: press, button: button, pause: wheelTime})
		p.step(step{do: release, button: button, pause: wheelTime})
	}
}

func (p *plan) wait(a *action) {
	d := a.duration
	if a.row.by == "type" {
		d = waitTime
	}
	p.step(step{do: wait, pause: d})
}

func (p *plan) nothing(*action) {}

func (p *plan) zoom(a *action) { p.region = a.region }
