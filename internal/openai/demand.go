package openai

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// maxN is the largest n that any provider takes.
const maxN = 128

// Demand is how much a request asks for, as far as the request itself says.
type Demand struct {
	Messages int   // elements of messages or input
	Choices  int64 // n; 1 where it is not said
	Output   int64 // the most output tokens of a choice, 0 where it is not said
	Logprobs bool  // token probabilities are asked for

	// Param is the field that says Output, and how it is spelled where it is
	// not said.
	Param string

	limits []int // members that bound the output
}

// The fields that bound an output. Where a chat request has both, the larger
// one counts: providers differ in which they heed.
var (
	chatLimits     = []string{"max_completion_tokens", "max_tokens"}
	responseLimits = []string{"max_output_tokens"}
)

// ChatDemand reads what a chat request, which [ParseChat] accepted, asks for.
// The error is a [*apierror.Error] with status 400.
func ChatDemand(body []byte, members []jsonscan.Member) (Demand, error) {
	d, err := demand(body, members, "messages", chatLimits)
	if err != nil {
		return d, err
	}
	if i, ok := jsonscan.Find(body, members, "n"); ok && members[i].Kind != 'n' {
		n, ok := jsonscan.Int(members[i].Value(body))
		if !ok || n < 1 || n > maxN {
			return d, apierror.New(apierror.InvalidValue, "%q must be an integer from 1 to %d", "n", maxN).WithParam("n")
		}
		d.Choices = n
	}
	return d, nil
}

// ResponsesDemand is [ChatDemand] for a request that [ParseResponses] accepted.
func ResponsesDemand(body []byte, members []jsonscan.Member) (Demand, error) {
	return demand(body, members, "input", responseLimits)
}

func demand(body []byte, members []jsonscan.Member, list string, limits []string) (Demand, error) {
	d := Demand{Choices: 1, Param: limits[0], Messages: count(body, members, list)}
	for _, name := range [...]string{"logprobs", "top_logprobs"} {
		i, ok := jsonscan.Find(body, members, name)
		d.Logprobs = d.Logprobs || ok && members[i].Kind != 'n' && members[i].Kind != 'f'
	}
	for _, name := range limits {
		i, ok := jsonscan.Find(body, members, name)
		if !ok {
			continue
		}
		d.limits = append(d.limits, i)
		if members[i].Kind == 'n' {
			continue
		}
		n, ok := jsonscan.Int(members[i].Value(body))
		if !ok || n < 1 || n > maxTokens {
			return d, wrong(name, "a positive integer")
		}
		if n > d.Output {
			d.Output, d.Param = n, name
		}
	}
	return d, nil
}

// count is how many elements a field has, 0 where it is not there.
func count(body []byte, members []jsonscan.Member, key string) int {
	i, ok := jsonscan.Find(body, members, key)
	if !ok {
		return 0
	}
	return countOf(members[i].Value(body))
}

// countOf is how many elements an array has; anything else is one, null none.
func countOf(value []byte) int {
	switch value[0] {
	case 'n':
		return 0
	case '[':
		n := 0
		for range jsonscan.AllElements(value) {
			n++
		}
		return n
	}
	return 1
}

// SaysOnly tells whether the request bounds its output by this field and names
// no other of that meaning.
func (d Demand) SaysOnly(field string) bool { return d.Param == field && len(d.limits) == 1 }

// CapOutput makes the request say that a choice has at most n tokens, in the
// provider's field of that meaning ("" = the usual one), and in no other.
func (d Demand) CapOutput(p *jsonscan.Patch, body []byte, members []jsonscan.Member, field string, n int64) {
	if field == "" {
		field = d.Param
	}
	value := strconv.AppendInt(nil, n, 10)
	done := false
	for _, i := range d.limits {
		if !done && string(members[i].Key(body)) == field {
			p.Set(i, value)
			done = true
		} else {
			p.Drop(i)
		}
	}
	if !done {
		p.Add(field, value)
	}
}
