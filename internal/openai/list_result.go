package openai

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// List is an API whose answer is a list.
type List struct {
	Member string // that is the list
	Named  bool   // answers name the model
	Object string // their member of that name; "" for none
	What   string // the list is of
	Made   bool   // of what is made, a list of as many units.Images
	Mark   bool   // streams end with [DONE]
	// Elements is a member that each element must have, an object; "" for none. It is empty where the
	// provider has none.
	Elements string
}

// The lists.
var (
	Embeddings  = List{Member: "data", Named: true, Object: "list", What: "embeddings"}
	Moderations = List{Member: "results", Named: true, What: "moderations"}
	Ranking     = List{Member: "results", What: "ranked documents"}

	RouterRanking = List{Member: "results", Named: true, What: "ranked documents", Elements: "document"}

	Images = List{Member: "data", What: "images", Made: true}

	RouterImages = List{Member: "data", What: "images", Made: true, Mark: true}
)

// Result appends the body of a provider's list as the client must get it: the model as asked, all else
// as it came. A body that has none, or is an error, is a [*apierror.Error], also in the summary, and dst
// is returned as it was.
func (l *List) Result(dst, body []byte, call Call) ([]byte, Summary, error) {
	var sum Summary
	var storage [16]jsonscan.Member
	members, err := jsonscan.Lenient(body, storage[:0])
	if err != nil {
		sum.Err = call.Broken("answered what is not JSON").WithCause(err)
		return dst, sum, sum.Err
	}
	if i, ok := jsonscan.Find(body, members, l.Member); !ok || members[i].Kind != '[' {
		if sum.Err = sum.fault(&call, body); !WalkedObject(body, members).failed() {
			sum.Err = call.Broken("answered with what is no list of " + l.What)
		}
		return dst, sum, sum.Err
	}
	p, model, object := jsonscan.NewPatch(body, members), -1, false
	var made []byte
	name := jsonscan.AppendString(nil, call.Model)
	for i, m := range members {
		value := m.Value(body)
		switch string(m.DecodedKey(body)) {
		case "object":
			object = true
		case "model":
			if one(p, &model, i); !bytes.Equal(value, name) {
				p.Set(i, name)
			}
		case "id":
			if len(value) <= maxID {
				sum.UpstreamID, _ = jsonscan.String(value)
			}
		case "usage", "meta":
			if u, ok := l.usage(value); ok {
				sum.Usage, sum.HasUsage = u, true
			}
		case l.Member:
			made = value
			if whole, changed := l.complete(value); changed {
				p.Set(i, whole)
			}
		}
	}
	if l.Made {
		for range jsonscan.AllElements(made) {
			sum.Usage.Units[units.Images]++
		}
		sum.HasUsage = true
	}
	if model < 0 && l.Named {
		p.Add("model", name)
	}
	if !object && l.Object != "" {
		p.Add("object", jsonscan.AppendString(nil, l.Object))
	}
	return p.Append(dst), sum, nil
}

// complete returns the elements with the member that each must have, and whether one lacked it.
func (l *List) complete(elements []byte) (dst []byte, changed bool) {
	if l.Elements == "" {
		return nil, false
	}
	dst = []byte{'['}
	for e := range jsonscan.AllElements(elements) {
		value := e.Value(elements)
		members := jsonscan.Members(value, nil)
		p := jsonscan.NewPatch(value, members)
		if _, ok := jsonscan.Find(value, members, l.Elements); !ok && e.Kind == '{' {
			p.Add(l.Elements, []byte("{}"))
			changed = true
		}
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = p.Append(dst)
	}
	return append(dst, ']'), changed
}

// usage reads the usage of a list.
func (l *List) usage(value []byte) (Usage, bool) {
	if l.Made {
		return imageUsage(value)
	}
	return listUsage(value)
}

// listUsage reads the usage of a list: all tokens of it are prompt. Voyage and Jina count only
// total_tokens. Search units stand in usage (OpenRouter), or in billed_units of meta (Cohere).
func listUsage(value []byte) (Usage, bool) {
	if len(value) == 0 || value[0] != '{' {
		return Usage{}, false
	}
	u, ok := ParseUsage(value)
	o := OpenObject(value, nil)
	count := func(name string) int64 {
		n, found := jsonscan.Int(o.Get(name))
		if !found || n < 0 || n > MaxTokens {
			return 0
		}
		ok = true
		return n
	}
	if !ok {
		u.Prompt = count("total_tokens")
	}
	u.Units[units.Queries] = count("search_units")
	if ok {
		u.Cost = reportedCost(o.Kind('0', "cost", ""))
	} else if billed := o.Get("billed_units"); billed != nil {
		return listUsage(billed)
	}
	if !ok {
		return Usage{}, false
	}
	u.Prompt += u.Completion
	u.Completion, u.Reasoning, u.Total = 0, 0, u.Prompt
	return u, true
}
