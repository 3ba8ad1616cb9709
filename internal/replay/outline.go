package replay

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/recording"
)

// Bounds of an Outline.
const (
	maxMarks    = 500
	maxMarkText = 120 // bytes
)

// Outline is what a recording has, without its pictures.
type Outline struct {
	Length int64  `json:"length"` // milliseconds
	Marks  []Mark `json:"marks"`  // at most 500
	More   int    `json:"more"`   // marks than those
}

// Mark is a moment that somebody may want to see.
type Mark struct {
	At   int64  `json:"at"` // milliseconds
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// outlineOf reads a recording to its end, without decoding it. Where it breaks off it ends.
func outlineOf(ctx context.Context, open Open) (o Outline, err error) {
	frames, file, err := open()
	if err != nil {
		return o, err
	}
	defer func() { _ = file.Close() }()
	o.Marks = []Mark{}
	for {
		f, err := frames.Next()
		if err != nil || ctx.Err() != nil { // of the recording: the player says why
			return o, ctx.Err()
		}
		o.Length = (f.At + time.Millisecond - 1).Milliseconds() // the last frame is in it
		if f.Kind == recording.KindMark {
			o.mark(f)
		}
	}
}

// mark keeps a mark. An agent may do very much: its actions make room for what persons did.
func (o *Outline) mark(f recording.Frame) {
	const action = "action"
	var m recording.Mark
	if json.Unmarshal(f.Data, &m) != nil {
		return
	}
	if len(o.Marks) == maxMarks {
		o.More++
		last := len(o.Marks) - 1
		for ; last >= 0 && o.Marks[last].Kind != action; last-- {
		}
		if m.Kind == action || last < 0 {
			return
		}
		o.Marks = slices.Delete(o.Marks, last, last+1)
	}
	o.Marks = append(o.Marks, Mark{f.At.Milliseconds(), m.Kind, strings.ToValidUTF8(m.Text[:min(len(m.Text), maxMarkText)], "")})
}
