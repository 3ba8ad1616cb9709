package openrouter

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// appendUsage appends the usage object a client gets: the provider's, with the
// counts in place, no null that the SDKs reject, both details objects (the AI
// SDK's provider wants their numbers), and our cost.
func (c Call) appendUsage(dst, usage []byte, u openai.Usage) []byte {
	members := jsonscan.Members(usage, nil)
	o := object{data: usage, members: members, patch: jsonscan.NewPatch(usage, members)}
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
	if i, ok := o.find("is_byok"); !ok || members[i].Kind != 't' && members[i].Kind != 'f' {
		o.put("is_byok", []byte("false"))
	}
	if i, ok := o.find("cost_details"); ok && !wholeCostDetails(members[i].Value(usage)) {
		o.patch.Drop(i)
	}
	return o.patch.Append(dst)
}

// wholeCostDetails tells whether the two numbers are there that the SDKs
// demand of a cost_details object.
func wholeCostDetails(value []byte) bool {
	members := jsonscan.Members(value, nil)
	for _, key := range [...]string{"upstream_inference_prompt_cost", "upstream_inference_completions_cost"} {
		if i, ok := jsonscan.Find(value, members, key); !ok || members[i].Kind != '0' {
			return false
		}
	}
	return true
}

// object is an object under edit.
type object struct {
	data    []byte
	members []jsonscan.Member
	patch   *jsonscan.Patch
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
	value := strconv.AppendInt(nil, n, 10)
	if i, ok := o.find(key); !ok || string(o.members[i].Value(o.data)) != string(value) {
		o.put(key, value)
	}
}

// details puts a details object that has a number in key.
func (o *object) details(name, key string, n int64) {
	data := []byte("{}")
	if i, ok := o.find(name); ok && o.members[i].Kind == '{' {
		data = o.members[i].Value(o.data)
	}
	members := jsonscan.Members(data, nil)
	inner := object{data: data, members: members, patch: jsonscan.NewPatch(data, members)}
	inner.dropNulls()
	inner.number(key, n)
	if i, ok := o.find(name); !ok || o.members[i].Kind != '{' || inner.patch.Changed() {
		o.put(name, inner.patch.Append(nil))
	}
}
