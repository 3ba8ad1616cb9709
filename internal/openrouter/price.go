package openrouter

import (
	"bytes"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// MaxPrice makes a request tell OpenRouter which upstreams are too dear, in USD
// per million tokens (`provider.max_price`), whatever else it prefers among
// them; the caller's own number stays where it is lower. Without it any upstream
// of the model may answer, and the list states the price of one. The error is a
// [*apierror.Error].
func MaxPrice(p *jsonscan.Patch, body []byte, members []jsonscan.Member, prompt, completion string) error {
	limit := func(old []byte) []byte {
		if len(old) == 0 || old[0] != '{' {
			old = []byte("{}")
		}
		return replace(replace(old, "prompt", lower(prompt)), "completion", lower(completion))
	}
	i, ok := jsonscan.Find(body, members, "provider")
	switch {
	case !ok:
		p.Add("provider", replace([]byte("{}"), "max_price", limit))
	case members[i].Kind == 'n':
		p.Set(i, replace([]byte("{}"), "max_price", limit))
	case members[i].Kind == '{':
		p.Set(i, replace(members[i].Value(body), "max_price", limit))
	default:
		return apierror.New(apierror.InvalidValue, "%q must be an object", "provider").WithParam("provider")
	}
	return nil
}

// replace returns the object with one member of that name, made of the last
// that it had (nil if it had none).
func replace(object []byte, name string, value func(old []byte) []byte) []byte {
	members := jsonscan.Members(object, nil)
	p := jsonscan.NewPatch(object, members)
	var old []byte
	for i, m := range members {
		if key, ok := jsonscan.String(object[m.KeyStart-1 : m.KeyEnd+1]); ok && key == name {
			old = m.Value(object)
			p.Drop(i)
		}
	}
	p.Add(name, value(old))
	return p.Append(nil)
}

// lower returns the number that stands there, plain or as a text, if it is one
// and below most, else most.
func lower(most string) func(old []byte) []byte {
	return func(old []byte) []byte {
		said, err := strconv.ParseFloat(string(bytes.Trim(old, `"`)), 64)
		limit, _ := strconv.ParseFloat(most, 64)
		if err != nil || !(0 <= said && said < limit) {
			return []byte(most)
		}
		return strconv.AppendFloat(nil, said, 'f', -1, 64) // in no spelling that others read otherwise
	}
}
