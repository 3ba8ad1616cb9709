package replay

import (
	"encoding/json"
	"errors"
	"net"
	"time"
)

const (
	// updateEvery is the least time between two updates while frames are due: a picture costs more to send
	// than to decode.
	updateEvery = 40 * time.Millisecond
	// tellEvery is how often the page reads how far a long seek is.
	tellEvery = 500 * time.Millisecond
	// writeWithin is how long the viewer may take to read an update.
	writeWithin = 2 * time.Minute
)

// player shows one recording to one viewer. It is used by one goroutine.
type player struct {
	conn   net.Conn
	events <-chan event // of the viewer; closed when it is gone
	source *source

	head     playhead
	pass     *pass
	view     view
	outlined chan Outline // has it once it is known
	outline  *Outline     // then, until the page has it
	note     string       // why nothing follows
	asked    bool         // for an update
	tell     bool         // the page has not the state
	sent     time.Time
	buffer   []byte
}

var (
	// errElsewhere ends a pass: another one reaches the wanted moment sooner.
	errElsewhere = errors.New("the recording is read again")
	// errGone is the end of the viewer.
	errGone = errors.New("the viewer is gone")
)

// run plays until the viewer is gone.
func (p *player) run() {
	for {
		err := p.play()
		p.pass.close()
		if errors.Is(err, errElsewhere) {
			err = p.again()
		}
		if err != nil && !errors.Is(err, errGone) {
			err = p.rest(err)
		}
		if errors.Is(err, errGone) {
			return
		}
	}
}

// play decodes until the end. Its error is never nil.
func (p *player) play() error {
	for {
		message, err := p.pass.next()
		if err != nil {
			return err
		}
		p.view.changed(message)
	}
}

// again begins another pass.
func (p *player) again() error {
	pass, err := p.source.begin(p.head.at, p.wait)
	if err != nil {
		return err
	}
	p.pass, p.view.all, p.note = pass, true, ""
	return nil
}

// rest shows the end until something else is to be seen, and begins another pass then.
func (p *player) rest(end error) error {
	p.note, p.tell = broken(end), true
	p.head.ended(p.pass.at)
	for p.head.over {
		if err := p.send(); err != nil {
			return err
		}
		if err := p.turn(forever); err != nil && !errors.Is(err, errElsewhere) {
			return err
		}
	}
	if err := p.again(); err != nil {
		return p.rest(err)
	}
	return nil
}

// wait returns when the next frame is due. Meanwhile, and from time to time while frames are due, the
// viewer gets what it has not. The error is errElsewhere or errGone.
func (p *player) wait(frame time.Duration) error {
	for {
		now := time.Now()
		seeking := p.head.seeking
		due, skipped := p.head.due(frame, now)
		p.tell = p.tell || skipped || seeking != p.head.seeking
		pause := updateEvery
		if p.head.seeking {
			pause = tellEvery
			p.tell = p.tell || now.Sub(p.sent) >= pause
		}
		if due > 0 || now.Sub(p.sent) >= pause {
			if err := p.send(); err != nil {
				return err
			}
		}
		if due > 0 {
			if err := p.turn(due); err != nil {
				return err
			}
			continue
		}
		select {
		case e, ok := <-p.events:
			if err := p.take(e, ok); err != nil {
				return err
			}
		case o := <-p.outlined:
			p.learn(o)
		default:
			return nil
		}
	}
}

// restLimit is how long a replay rests for a viewer that asks for nothing: others may wait for its place.
const restLimit = 30 * time.Minute

// turn waits for a time, or for the next event. The error is errGone where a rest has lasted too long.
func (p *player) turn(wait time.Duration) error {
	timer := time.NewTimer(min(wait, restLimit))
	defer timer.Stop()
	select {
	case <-timer.C:
		if wait == forever {
			return errGone
		}
		return nil
	case e, ok := <-p.events:
		return p.take(e, ok)
	case o := <-p.outlined:
		p.learn(o)
		return nil
	}
}

// learn takes the outline, which is known a while after the recording was opened.
func (p *player) learn(o Outline) {
	p.outline, p.tell = &o, true
	p.head.length = time.Duration(o.Length) * time.Millisecond
}

// take does what an event of the viewer asks for.
func (p *player) take(e event, ok bool) error {
	switch {
	case !ok:
		return errGone
	case e.order != nil:
		p.head.obey(*e.order, time.Now())
		p.tell = true
		from, _ := p.source.moments.before(p.head.at)
		if p.head.seeking && (p.head.at < p.pass.at || from.at > p.pass.at) {
			return errElsewhere
		}
	default:
		p.asked = true
		p.view.all = p.view.all || e.whole
	}
	return nil
}

// send sends the viewer what it has not, if it has asked. While a seek is under way that is the state
// alone.
func (p *player) send() error {
	if !p.asked {
		return nil
	}
	name := ""
	if p.tell {
		name = p.state()
	}
	p.buffer = p.buffer[:0]
	if !p.head.seeking {
		p.buffer = p.view.update(p.buffer, p.pass.frame(), name)
	} else if name != "" {
		p.buffer = appendName(head(p.buffer, 1), name)
	}
	if len(p.buffer) == 0 {
		return nil
	}
	p.asked, p.tell, p.sent = false, p.tell && name == "", time.Now()
	if name != "" {
		p.outline = nil
	}
	_ = p.conn.SetWriteDeadline(time.Now().Add(writeWithin)) // a dead connection fails the write
	if _, err := p.conn.Write(p.buffer); err != nil {
		return errGone
	}
	return nil
}

// state is what the page needs to know, as JSON. It is sent as the desktop's name, which noVNC hands on.
func (p *player) state() string {
	type state struct {
		At      int64    `json:"at"` // milliseconds, as all times
		Playing bool     `json:"playing"`
		Seeking bool     `json:"seeking"`
		Reached int64    `json:"reached"` // by a seek
		Speed   float64  `json:"speed"`
		Note    string   `json:"note"`
		Outline *Outline `json:"outline,omitempty"`
	}
	h := &p.head
	text, _ := json.Marshal(state{ // of such members it has no error
		h.position(time.Now()).Milliseconds(), h.playing, h.seeking, p.pass.at.Milliseconds(), h.speed, p.note, p.outline,
	})
	return string(text)
}
