package activity

import (
	"encoding/binary"
	"slices"
	"time"
)

// reader removes values from the front of a row. A missing value makes the row bad and reads as
// zero.
type reader struct {
	rest []byte
	text string // ends as rest does, for substrings
	hash []byte // KeyHash, if it is packed
	// tried and skipped have room for the lists.
	tried   []Attempt
	skipped []Skipped
	bad     bool
}

// fields reads the values of fields.
func (in *reader) fields(r *Record, fields []place) {
	for i := range fields {
		switch p := &fields[i]; p.kind {
		case textKind:
			*fieldAt[string](r, p) = in.string()
		case numberKind:
			*fieldAt[int64](r, p) = in.number()
		case intKind:
			*fieldAt[int](r, p) = int(in.number())
		case attemptsKind:
			*fieldAt[[]Attempt](r, p) = in.attempts()
		case skippedKind:
			*fieldAt[[]Skipped](r, p) = in.targets()
		case boolKind:
			*fieldAt[bool](r, p) = true
		}
	}
}

func (in *reader) attempts() []Attempt {
	n := in.length()
	all := slices.Grow(in.tried, n)
	for range n {
		a := Attempt{Status: int(in.number()), Latency: time.Duration(in.number())}
		a.Target, a.Code = in.string(), in.string()
		all = append(all, a)
	}
	return all
}

func (in *reader) targets() []Skipped {
	n := in.length()
	all := slices.Grow(in.skipped, n)
	for range n {
		all = append(all, Skipped{Target: in.string(), Code: in.string(), RefusedBy: in.string()})
	}
	return all
}

// length reads the length of a list, which is written only if it has something.
func (in *reader) length() int {
	n := in.number()
	if n < 1 || n > maxAttempted {
		in.bad = true
		return 0
	}
	return int(n)
}

func (in *reader) number() int64 {
	n, size := binary.Varint(in.rest)
	if size <= 0 {
		in.bad = true
		return 0
	}
	in.rest = in.rest[size:]
	return n
}

// size reads a number without a sign.
func (in *reader) size() uint64 {
	n, size := binary.Uvarint(in.rest)
	if size <= 0 {
		in.bad = true
		return 0
	}
	in.rest = in.rest[size:]
	return n
}

func (in *reader) string() string {
	n := in.size()
	if n > uint64(len(in.rest)) {
		in.bad = true
		return ""
	}
	start := len(in.text) - len(in.rest)
	in.rest = in.rest[n:]
	return in.text[start : start+int(n)]
}
