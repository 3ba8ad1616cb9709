package openrouter

import (
	"strconv"
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// appendUsage appends the usage object a client gets: the provider's, with the
// counts in place, no null that the SDKs reject, both details objects (the AI
// SDK's provider wants their numbers), and our cost.
func (c Call) appendUsage(dst, usage []byte, u openai.Usage) []byte {
	b := benches.Get().(*bench)
	defer b.free()
	o := b.begin(&b.outer, usage)
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

// maxBench bounds what a bench keeps of a long usage object, in members and
// in bytes; real ones have 20 and 1,000.
const maxBench = 4 << 10

// bench is what the edit of one usage object works with.
type bench struct {
	outer, inner object
	text         []byte // the new values
}

var benches = sync.Pool{New: func() any { return new(bench) }}

// begin begins the edit of data in o, which is one of b.
func (b *bench) begin(o *object, data []byte) *object {
	o.bench, o.data, o.members = b, data, jsonscan.Members(data, o.members[:0])
	o.patch.Reset(data, o.members)
	return o
}

// free gives b back with nothing in it of the call it served.
func (b *bench) free() {
	for _, o := range [...]*object{&b.outer, &b.inner} {
		o.data = nil
		o.patch.Reset(nil, nil)
		if o.members = o.members[:0]; cap(o.members) > maxBench/64 {
			o.members = nil
		}
	}
	if b.text = b.text[:0]; cap(b.text) > maxBench {
		b.text = nil
	}
	benches.Put(b)
}

// wholeCostDetails tells whether the two numbers are there that the SDKs
// demand of a cost_details object.
func wholeCostDetails(value []byte) bool {
	var room [8]jsonscan.Member
	members := jsonscan.Members(value, room[:0])
	for _, key := range [...]string{"upstream_inference_prompt_cost", "upstream_inference_completions_cost"} {
		if i, ok := jsonscan.Find(value, members, key); !ok || members[i].Kind != '0' {
			return false
		}
	}
	return true
}

// object is an object under edit.
type object struct {
	bench   *bench
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

// number puts n, and leaves alone what already says so.
func (o *object) number(key string, n int64) {
	at := len(o.bench.text)
	o.bench.text = strconv.AppendInt(o.bench.text, n, 10)
	value := o.bench.since(at)
	if i, ok := o.find(key); !ok || string(o.members[i].Value(o.data)) != string(value) {
		o.put(key, value)
	}
}

// since is the text from at on.
func (b *bench) since(at int) []byte { return b.text[at:len(b.text):len(b.text)] }

// details puts a details object that has a number in key.
func (o *object) details(name, key string, n int64) {
	data := jsonEmptyObject
	i, found := o.find(name)
	if found = found && o.members[i].Kind == '{'; found {
		data = o.members[i].Value(o.data)
	}
	inner := o.bench.begin(&o.bench.inner, data)
	inner.dropNulls()
	inner.number(key, n)
	if !found || inner.patch.Changed() {
		at := len(o.bench.text)
		o.bench.text = inner.patch.Append(o.bench.text)
		o.put(name, o.bench.since(at))
	}
}
