package judge

import (
	"cmp"
	"slices"
	"strconv"
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/document"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// eventEdit judges and edits one event.
type eventEdit struct {
	*scratch
	stream   *Stream
	event    *openai.Event
	data     []byte            // of the event
	members  []jsonscan.Member // of the event
	sequence document.Span     // its sequence number
	number   openai.Variable   // the same, if it is changed
	pieces   int               // how many were read
	text     openai.Variable   // the last piece
	last     *channel          // its channel
	look     look              // of the walk
	verdict  *guardrail.Verdict
	err      error
}

// look returns for each string of an event the channel of which it is a piece, or how to read it as a
// whole text, or that it is not read.
type look func(w *document.Walker, at document.Span) (c *channel, how document.Context, unread bool)

// maxScratch bounds each list that is kept for the next event. A usual event has a few dozen
// elements, the worst has thousands.
const maxScratch = 256

// scratch is the working memory for one event. It is pooled, so that a stream that waits holds
// none.
type scratch struct {
	edit     eventEdit
	walker   document.Walker
	inner    []jsonscan.Member
	spans    []jsonscan.Span
	choices  []chatChoice
	regions  []region
	elements []element
	frames   []document.Frame
	reader   document.Reader
}

var scratches = sync.Pool{New: func() any {
	s := new(scratch)
	s.walker.Visit, s.walker.Logprobs = s.visit, s.visitLogprobs
	return s
}}

// newEventEdit returns the edit of one event. It must be freed.
func newEventEdit(s *Stream, event *openai.Event, members []jsonscan.Member) *eventEdit {
	memory := scratches.Get().(*scratch)
	memory.edit = eventEdit{scratch: memory, stream: s, event: event, data: event.Data, members: members}
	return &memory.edit
}

// free returns the memory to the pool, without references to the event.
func (s *scratch) free() {
	s.reader.Release()
	s.edit = eventEdit{}
	s.walker = document.Walker{Visit: s.walker.Visit, Logprobs: s.walker.Logprobs}
	if max(cap(s.inner), cap(s.spans), cap(s.choices), cap(s.regions), cap(s.elements), cap(s.frames)) > maxScratch {
		return
	}
	clear(s.choices)
	clear(s.regions)
	clear(s.elements)
	clear(s.frames[:cap(s.frames)])
	s.choices, s.regions, s.elements = s.choices[:0], s.regions[:0], s.elements[:0]
	scratches.Put(s)
}

// region is a part of an event that must be read or changed.
type region struct {
	at      document.Span
	channel *channel         // the channel of a piece; nil for a whole text
	how     document.Context // how to read a whole text
	logs    bool             // whether it is token probabilities
	signed  *channel         // of a signature: the text that it signs
}

// walk collects the regions.
func (e *eventEdit) walk(look look) {
	e.look = look
	w := &e.walker
	*w = document.Walker{Data: e.data, Answer: true, Event: true, Frames: e.frames, Visit: w.Visit, Logprobs: w.Logprobs}
	w.Walk()
	e.frames = w.Frames[:0]
}

// visitLogprobs and visit take what the walker finds. They belong to the memory and not to the edit,
// so that they are bound once.
func (s *scratch) visitLogprobs(at document.Span) {
	s.regions = append(s.regions, region{at: at, logs: true})
}

func (s *scratch) visit(at document.Span) {
	if s.edit.err != nil {
		return
	}
	c, how, unread := s.edit.look(&s.walker, at)
	if unread {
		return
	}
	if c != nil {
		c.left++
	}
	s.regions = append(s.regions, region{at: at, channel: c, how: how})
}

// eventType returns the type of the event: that of its data, or else its name.
func (e *eventEdit) eventType() string {
	if typ, ok := jsonscan.String(member(e.data, e.members, "type")); ok {
		return typ
	}
	return string(e.event.Name)
}

// open returns the channel of an id, and whether it is new.
func (e *eventEdit) open(id, group string) (c *channel, fresh bool) {
	if c, fresh = e.stream.channel(id, group); c == nil && e.err == nil {
		e.err = ErrTooManyTexts
	}
	return c, fresh
}

// send adds the edited event to the output. Before it, it ends the channels that end with this
// event and have no piece in it.
func (e *eventEdit) send() {
	s := e.stream
	if e.verdict = s.flush(func(c *channel) bool { return c.ending && c.left == 0 }); e.verdict != nil {
		return
	}
	matcher := s.set.output.matcher()
	defer s.set.output.release(matcher)
	e.reader.Reset(matcher, e.data, true)
	if e.sequence.End > 0 && s.shift > 0 {
		e.regions = append(e.regions, region{at: e.sequence})
		e.sortRegions()
	}
	for _, r := range e.regions {
		switch {
		case r.logs:
			e.reader.EmptyLogprobs(r.at)
		case r.at == e.sequence:
			e.number = openai.Variable{Start: r.at.Start, End: r.at.End, New: strconv.AppendInt(nil, s.sequence+s.shift, 10)}
			e.reader.PutValue(r.at, e.number.New)
		case r.signed != nil:
			if r.signed.edited {
				e.reader.PutValue(r.at, []byte(`""`))
			}
		case r.channel == nil:
			e.readText(matcher, r)
		default:
			e.readPiece(r)
		}
		if e.verdict != nil || e.err != nil {
			return
		}
	}
	s.redacts = s.set.output.redacted(matcher, s.redacts)
	s.channels = slices.DeleteFunc(s.channels, (*channel).releaseEnding)
	e.apply()
	s.out = append(s.out, e.event)
}

// sortRegions puts the regions into the order of the event.
func (e *eventEdit) sortRegions() {
	slices.SortStableFunc(e.regions, func(a, b region) int { return cmp.Compare(a.at.Start, b.at.Start) })
}

// readText reads a whole text.
func (e *eventEdit) readText(matcher *detect.Matcher, r region) {
	if e.err = e.reader.Text(r.at, r.how); e.err == detect.ErrDenied {
		e.verdict, e.err = e.stream.set.output.verdict(matcher), nil
	}
}

// readPiece reads a piece of a channel, and replaces it by what may be sent of the channel now.
func (e *eventEdit) readPiece(r region) {
	c := r.channel
	value := e.data[r.at.Start:r.at.End]
	text, v := c.push(value)
	c.left--
	if v == nil && c.ending && c.left == 0 {
		var rest string
		rest, v = c.finish()
		text += rest
	}
	if v != nil {
		e.verdict = v
		return
	}
	e.stream.redacts = c.output.redacted(c.matcher, e.stream.redacts)
	e.pieces++
	e.last, e.text = c, openai.Variable{Start: r.at.Start, End: r.at.End}
	if !document.IsText(value, text) {
		e.text.New = jsonscan.AppendString(nil, text)
		e.reader.PutValue(r.at, e.text.New)
	}
}

// apply gives the event its edits. Those of its only piece and of its sequence number are made when
// it is sent, and others at once.
func (e *eventEdit) apply() {
	single := e.pieces == 1 && e.data[e.text.Start] == '"'
	later := 0
	if single && e.text.New != nil {
		later++
	}
	if e.number.New != nil {
		later++
	}
	if e.reader.Len() > later {
		e.event.Rewrite(e.reader.Apply(), e.reader.Move)
		return
	}
	if e.number.New != nil {
		e.event.Set(openai.VarNumber, e.number)
	}
	if single {
		e.event.Set(openai.VarText, e.text)
		e.stream.repeat.learn(e)
	}
}

// end marks the selected channels as ending with this event.
func (e *eventEdit) end(selected func(*channel) bool) {
	s := e.stream
	for _, c := range s.channels {
		if !c.ending && selected(c) {
			c.ending = true
			delete(s.open, c.id)
		}
	}
}

// follow makes a new channel continue the text that was last read under a name. It returns the end
// of that text.
func (e *eventEdit) follow(c *channel, name string) (before string) {
	s := e.stream
	c.tail = s.tails[name]
	if c.tail == nil && len(s.tails) < maxChannels {
		c.tail = new(detect.Tail)
		s.tails[name] = c.tail
	}
	if c.tail != nil {
		before = c.tail.String()
	}
	c.matcher.Follow(before)
	return before
}

// member returns the value of a member, nil if there is none.
func member(object []byte, members []jsonscan.Member, key string) []byte {
	i, ok := jsonscan.Find(object, members, key)
	if !ok {
		return nil
	}
	return members[i].Value(object)
}

// maxCopiedValue is how many bytes a value may have that inserted events repeat. Identifiers are
// shorter.
const maxCopiedValue = 1024

// appendMember appends a member with a JSON value, and a comma. It leaves out empty values and too
// long ones.
func appendMember(dst []byte, key string, value []byte) []byte {
	if len(value) == 0 || len(value) > maxCopiedValue {
		return dst
	}
	dst = jsonscan.AppendString(dst, key)
	dst = append(dst, ':')
	dst = append(dst, value...)
	return append(dst, ',')
}
