package activity

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"time"
)

// The data of a row: one byte of version, one of flags, the numbers as varints, then the texts,
// each after its length. The tenant and the time have their own columns.
const dataVersion = 1

const (
	flagStream = 1 << iota
	flagPriced
	flagRawHash     // KeyHash is written as its 32 bytes
	flagWorkstation // the fields of a workstation follow at the end
	flagCap         // then the output limit
	flagAttempted   // then the number of attempts, and each of them
	flagPhases      // then Queued, Overhead, TraceID and RefusedBy
	flagMore        // then a second byte of flags
)

// The second byte of flags.
const (
	moreUser  = 1 << iota // then User
	moreKnown = 1<<iota - 1
)

// errDamaged means that this version cannot have written the row.
var errDamaged = errors.New("damaged activity row")

// rawHash is the length of a SHA-256.
const rawHash = 32

// encode appends the data of r to b.
func (r *Record) encode(b []byte) []byte {
	flags := len(b) + 1
	b = append(b, dataVersion, 0)
	if r.Stream {
		b[flags] |= flagStream
	}
	if r.Priced {
		b[flags] |= flagPriced
	}
	for _, n := range [...]int64{
		int64(r.Status), int64(r.Attempts), int64(r.Latency), int64(r.FirstToken),
		r.PromptTokens, r.CompletionTokens, r.ReasoningTokens, r.CachedTokens, r.CostNano,
	} {
		b = binary.AppendVarint(b, n)
	}
	for _, s := range [...]string{
		r.Key, r.Model, r.Provider, r.ID, r.RequestID, r.ClientRequestID, r.UpstreamID, r.Family, r.Route,
		r.UpstreamModel, r.Code, r.FinishReason, r.NativeFinishReason, r.UsageSource,
	} {
		b = appendText(b, s)
	}
	if hash, ok := packHex(r.KeyHash); ok {
		b[flags] |= flagRawHash
		b = append(b, hash[:]...)
	} else {
		b = appendText(b, r.KeyHash)
	}
	if r.Workstation != "" || r.Ended != "" || r.BytesUp != 0 || r.BytesDown != 0 {
		b[flags] |= flagWorkstation
		b = binary.AppendVarint(binary.AppendVarint(b, r.BytesUp), r.BytesDown)
		b = appendText(appendText(b, r.Workstation), r.Ended)
	}
	if r.OutputCap != 0 {
		b[flags] |= flagCap
		b = binary.AppendVarint(b, r.OutputCap)
	}
	if len(r.Attempted) > 0 {
		b[flags] |= flagAttempted
		b = binary.AppendVarint(b, int64(len(r.Attempted)))
		for _, a := range r.Attempted {
			b = binary.AppendVarint(binary.AppendVarint(b, int64(a.Status)), int64(a.Latency))
			b = appendText(appendText(b, a.Target), a.Code)
		}
	}
	if r.Queued != 0 || r.Overhead != 0 || r.TraceID != "" || r.RefusedBy != "" {
		b[flags] |= flagPhases
		b = binary.AppendVarint(binary.AppendVarint(b, int64(r.Queued)), int64(r.Overhead))
		b = appendText(appendText(b, r.TraceID), r.RefusedBy)
	}
	if r.User != "" {
		b[flags] |= flagMore
		b = appendText(append(b, moreUser), r.User)
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// decode sets all of r except the tenant and the time. The texts share one copy of data.
func (r *Record) decode(data []byte) error {
	if len(data) < 2 || data[0] != dataVersion {
		return errDamaged
	}
	flags := data[1]
	r.Stream, r.Priced = flags&flagStream != 0, flags&flagPriced != 0
	in := reader{rest: data[2:]}
	r.Status, r.Attempts = int(in.number()), int(in.number())
	r.Latency, r.FirstToken = time.Duration(in.number()), time.Duration(in.number())
	for _, n := range [...]*int64{&r.PromptTokens, &r.CompletionTokens, &r.ReasoningTokens, &r.CachedTokens, &r.CostNano} {
		*n = in.number()
	}
	in.text = string(in.rest)
	for _, s := range [...]*string{
		&r.Key, &r.Model, &r.Provider, &r.ID, &r.RequestID, &r.ClientRequestID, &r.UpstreamID, &r.Family, &r.Route,
		&r.UpstreamModel, &r.Code, &r.FinishReason, &r.NativeFinishReason, &r.UsageSource,
	} {
		*s = in.string()
	}
	if flags&flagRawHash == 0 {
		r.KeyHash = in.string()
	} else if len(in.rest) >= rawHash {
		var text [2 * rawHash]byte
		hex.Encode(text[:], in.rest[:rawHash])
		r.KeyHash = string(text[:])
		in.rest = in.rest[rawHash:]
	} else {
		in.bad = true
	}
	r.Workstation, r.Ended, r.BytesUp, r.BytesDown = "", "", 0, 0
	if flags&flagWorkstation != 0 {
		r.BytesUp, r.BytesDown = in.number(), in.number()
		r.Workstation, r.Ended = in.string(), in.string()
	}
	r.OutputCap = 0
	if flags&flagCap != 0 {
		r.OutputCap = in.number()
	}
	r.Attempted = nil
	if flags&flagAttempted != 0 {
		n := in.number()
		if n < 1 || n > maxAttempted {
			return errDamaged
		}
		for range n {
			a := Attempt{Status: int(in.number()), Latency: time.Duration(in.number())}
			a.Target, a.Code = in.string(), in.string()
			r.Attempted = append(r.Attempted, a)
		}
	}
	r.Queued, r.Overhead, r.TraceID, r.RefusedBy = 0, 0, "", ""
	if flags&flagPhases != 0 {
		r.Queued, r.Overhead = time.Duration(in.number()), time.Duration(in.number())
		r.TraceID, r.RefusedBy = in.string(), in.string()
	}
	r.User = ""
	if flags&flagMore != 0 {
		if more := in.byte(); more == 0 || more&^moreKnown != 0 { // of a later version
			return errDamaged
		}
		r.User = in.string()
	}
	if in.bad || len(in.rest) > 0 {
		return errDamaged
	}
	return nil
}

// reader removes values from the front of a row. A missing value makes the row bad and reads as
// zero.
type reader struct {
	rest []byte
	text string // the text that begins with rest, for substrings
	bad  bool
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

func (in *reader) byte() byte {
	if len(in.rest) == 0 {
		in.bad = true
		return 0
	}
	b := in.rest[0]
	in.rest = in.rest[1:]
	return b
}

func (in *reader) string() string {
	n, size := binary.Uvarint(in.rest)
	if size <= 0 || n > uint64(len(in.rest)-size) {
		in.bad = true
		return ""
	}
	start := len(in.text) - len(in.rest) + size
	in.rest = in.rest[size+int(n):]
	return in.text[start : start+int(n)]
}

// packHex halves a hash. It accepts only the lower-case form that decode writes.
func packHex(s string) (hash [rawHash]byte, ok bool) {
	if len(s) != 2*rawHash {
		return hash, false
	}
	for i := range hash {
		high, low := digit(s[2*i]), digit(s[2*i+1])
		if high|low > 15 {
			return hash, false
		}
		hash[i] = high<<4 | low
	}
	return hash, true
}

// digit returns more than 15 if c is not a lower-case hexadecimal digit.
func digit(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	}
	return 255
}
