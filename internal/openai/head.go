package openai

import (
	"bytes"
	"math"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// objectHead is the members that say what a chat completion object is, the same in all chunks of a
// stream.
type objectHead struct {
	object   []byte // quoted
	model    []byte // quoted, as asked
	id       []byte // quoted; empty before the first object
	created  []byte // digits, of the first object; empty before it
	provider []byte // quoted, empty for none
}

// reset makes h that of another call. It keeps the memory.
func (h *objectHead) reset(model string, shape Shape, stream bool) {
	if h.model == nil { // one piece of memory for values of the usual lengths
		const usual, digits = 56, 16
		b := make([]byte, 2*usual+digits)
		h.model, h.id, h.created = b[:0:usual], b[usual:usual:2*usual], b[2*usual:2*usual]
	}
	*h = objectHead{
		object: objectResult,
		model:  jsonscan.AppendString(h.model[:0], model),
		id:     h.id[:0], created: h.created[:0], provider: h.provider[:0],
	}
	switch {
	case shape.Text:
		h.object = objectText
	case stream:
		h.object = objectChunk
	}
	if shape.FixedID != "" {
		h.id = jsonscan.AppendString(h.id, shape.FixedID)
	}
	if shape.Provider != "" {
		h.provider = jsonscan.AppendString(h.provider, shape.Provider)
	}
}

// edit gives an object its head.
func (h *objectHead) edit(p *jsonscan.Patch, data []byte, members []jsonscan.Member, t topMembers, call *Call, sum *Summary) {
	value := func(i int) []byte {
		if i < 0 {
			return nil
		}
		return members[i].Value(data)
	}
	put := func(i int, key string, want []byte) {
		if i < 0 || !bytes.Equal(value(i), want) {
			set(p, i, key, want)
		}
	}
	h.learn(value(t.id), value(t.created), call, sum)
	put(t.id, "id", h.id)
	put(t.object, "object", h.object)
	if !isDigits(value(t.created)) {
		set(p, t.created, "created", h.created)
	}
	put(t.model, "model", h.model)
	if len(h.provider) > 0 {
		put(t.provider, "provider", h.provider)
	}
}

// learn takes id and time from the first object that has them.
func (h *objectHead) learn(id, created []byte, call *Call, sum *Summary) {
	if sum.UpstreamID == "" && len(id) > 0 && len(id) <= maxID {
		if s, ok := jsonscan.String(id); ok && s != "" {
			sum.UpstreamID = s
			if len(h.id) == 0 {
				h.id = append(h.id, id...)
			}
		}
	}
	if len(h.id) == 0 {
		h.id = jsonscan.AppendString(h.id, call.ID)
	}
	if len(h.created) == 0 {
		h.created = strconv.AppendInt(h.created, unixSeconds(created, call.Created), 10)
	}
}

// append appends the head of an object of our own, without its closing brace.
func (h *objectHead) append(dst []byte) []byte {
	dst = AppendValue(append(dst, '{'), "id", h.id)
	dst = AppendValue(dst, "object", h.object)
	dst = AppendValue(dst, "created", h.created)
	dst = AppendValue(dst, "model", h.model)
	if len(h.provider) > 0 {
		dst = AppendValue(dst, "provider", h.provider)
	}
	return dst
}

// isDigits reports whether value is an integer as every JSON reader takes it.
func isDigits(value []byte) bool {
	for _, c := range value {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(value) > 0 && len(value) <= 12
}

// unixSeconds reads a time that a provider may have written as a float.
func unixSeconds(value []byte, otherwise int64) int64 {
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil || f < 0 || f > math.MaxInt32*1000. {
		return otherwise
	}
	return int64(f)
}
