// Package sse reads and writes server-sent events, the streams of all APIs (WHATWG HTML, section
// 9.2).
//
// A [Reader] returns one event at a time, however the bytes arrive: lines may end in LF, CRLF or
// CR, and reads may split them, and the runes in them, anywhere. Each event has its bytes as
// received, so that a gateway can pass on unchanged events, and its name and data, so that it can
// read them. [Reader.Buffered] reports whether a flush may wait for one more event.
//
//	events := sse.NewReader(response.Body, 1<<20)
//	defer events.Release()
//	for {
//		event, err := events.Next()
//		if err != nil { … } // io.EOF at the end
//		w.Write(event.Raw)
//		if !events.Buffered() { flush() }
//	}
//
// [AppendComment] writes a heartbeat.
package sse

import "errors"

// ErrTooLong is returned by [Reader.Next] for an event longer than the bound given to [NewReader].
// The reader cannot be used afterwards.
var ErrTooLong = errors.New("event too long")

// Event is one block of lines up to a blank line. Its slices point into the reader's buffers and
// are valid until the next call of [Reader.Next].
type Event struct {
	// Raw has the bytes as received, including the blank line at the end. If the stream ended
	// without it, Raw is completed, so that it is always a whole event. Blank lines between events
	// and a byte order mark before the first belong to no event.
	Raw []byte

	// Name is the value of the last event field, nil without one.
	Name []byte

	// Data holds the values of the data fields, joined by LF. It is nil without a data field, and
	// empty but not nil if the only one is empty.
	Data []byte

	// Comment reports that the block has no field with a meaning, only comments: a heartbeat. It is
	// false for a block of retry or unknown fields.
	Comment bool
}
