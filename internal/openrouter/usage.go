package openrouter

import (
	"strconv"
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// appendUsage appends the usage object for the client: the provider's, with all counts, without
// nulls that the SDKs reject, with both details objects (the AI SDK's provider needs their numbers)
// and our cost.
func (c Call) appendUsage(dst, usage []byte, u openai.Usage) []byte {
	s := scratches.Get().(*scratch)
	defer s.free()
	o := s.begin(&s.outer, usage)
	o.dropNulls()
	o.number("prompt_tokens", u.Prompt)
	o.number("completion_tokens", u.Completion)
	o.number("total_tokens", u.Total)
	o.details("prompt_tokens_details", "cached_tokens", u.Cached)
	o.details("completion_tokens_details", "reasoning_tokens", u.Reasoning)
	var cost []byte
	if c.Cost != nil {
		cost = c.Cost(u)
	}
	o.put("cost", cost)
	if i, ok := o.find("is_byok"); !ok || o.members[i].Kind != 't' && o.members[i].Kind != 'f' {
		o.put("is_byok", jsonFalse)
	}
	if i, ok := o.find("cost_details"); ok && !wholeCostDetails(o.members[i].Value(usage)) {
		o.patch.Drop(i)
	}
	return o.patch.Append(dst)
}

var (
	jsonFalse       = []byte("false")
	jsonEmptyObject = []byte("{}")
)

// maxScratch bounds the memory that is kept after a long usage object, in bytes. Real objects have
// 20 members and 1,000 bytes.
const maxScratch = 4 << 10

// scratch is the working memory for the edit of one usage object.
type scratch struct {
	outer, inner object
	text         []byte // the new values
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// begin begins the edit of data in o, which is one of the two objects.
func (s *scratch) begin(o *object, data []byte) *object {
	o.scratch, o.data, o.members = s, data, jsonscan.Members(data, o.members[:0])
	o.patch.Reset(data, o.members)
	return o
}

// free returns the memory to the pool, without references to the call.
func (s *scratch) free() {
	for _, o := range [...]*object{&s.outer, &s.inner} {
		o.data = nil
		o.patch.Reset(nil, nil)
		if o.members = o.members[:0]; cap(o.members) > maxScratch/64 {
			o.members = nil
		}
	}
	if s.text = s.text[:0]; cap(s.text) > maxScratch {
		s.text = nil
	}
	scratches.Put(s)
}

// wholeCostDetails reports whether a cost_details object has the two numbers that the SDKs require.
func wholeCostDetails(value []byte) bool {
	var storage [8]jsonscan.Member
	members := jsonscan.Members(value, storage[:0])
	for _, key := range [...]string{"upstream_inference_prompt_cost", "upstream_inference_completions_cost"} {
		if i, ok := jsonscan.Find(value, members, key); !ok || members[i].Kind != '0' {
			return false
		}
	}
	return true
}

// object is an object under edit.
type object struct {
	scratch *scratch
	data    []byte
	members []jsonscan.Member
	patch   jsonscan.Patch
}

func (o *object) find(key string) (int, bool) { return jsonscan.Find(o.data, o.members, key) }

// dropNulls drops null members, and all but the last of those that repeat.
func (o *object) dropNulls() {
	for i, m := range o.members {
		if last, _ := o.find(string(m.Key(o.data))); m.Kind == 'n' || last != i {
			o.patch.Drop(i)
		}
	}
}

// put sets a member, or drops it when value is nil.
func (o *object) put(key string, value []byte) {
	i, ok := o.find(key)
	switch {
	case ok && value != nil:
		o.patch.Set(i, value)
	case ok:
		o.patch.Drop(i)
	case value != nil:
		o.patch.Add(key, value)
	}
}

// number sets a number, unless the member has it already.
func (o *object) number(key string, n int64) {
	at := len(o.scratch.text)
	o.scratch.text = strconv.AppendInt(o.scratch.text, n, 10)
	value := o.scratch.since(at)
	if i, ok := o.find(key); !ok || string(o.members[i].Value(o.data)) != string(value) {
		o.put(key, value)
	}
}

// since returns the text from at on.
func (s *scratch) since(at int) []byte { return s.text[at:len(s.text):len(s.text)] }

// details sets a details object that has a number in key.
func (o *object) details(name, key string, n int64) {
	data := jsonEmptyObject
	i, found := o.find(name)
	if found = found && o.members[i].Kind == '{'; found {
		data = o.members[i].Value(o.data)
	}
	inner := o.scratch.begin(&o.scratch.inner, data)
	inner.dropNulls()
	inner.number(key, n)
	if !found || inner.patch.Changed() {
		at := len(o.scratch.text)
		o.scratch.text = inner.patch.Append(o.scratch.text)
		o.put(name, o.scratch.since(at))
	}
}
