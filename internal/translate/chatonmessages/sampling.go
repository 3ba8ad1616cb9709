package chatonmessages

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// leastTopP is the smallest top_p that the API takes together with thoughts of a budget.
const leastTopP = 0.95

// hottest is the highest temperature of OpenAI.
const hottest = 2

// putSampling maps temperature, top_p and top_k, as far as the model takes them. Values that mean
// the default are left out.
func (t *translation) putSampling() {
	rules, thinks := t.opt.Rules.Sampling, t.thinks()
	temperature := t.fraction("temperature", hottest)
	topP := t.fraction("top_p", 1)
	topK, n := t.body.Int("top_k", -1)
	if n <= 0 { // OpenRouter's words for none
		topK = nil
	}
	for _, f := range []struct {
		key   string
		value []byte
		taken bool
	}{
		{"temperature", temperature, !thinks},
		{"top_p", topP, (rules != catalog.SamplingEither || temperature == nil) && (!thinks || number(topP) >= leastTopP)},
		{"top_k", topK, !thinks},
	} {
		switch {
		case f.value == nil:
		case rules == catalog.SamplingIgnored:
			t.leaveOut(f.key)
		case rules == catalog.SamplingRefused:
			t.refuse(f.key, `this model does not take %q; leave it out, or have the operator set "sampling": "ignored" for the model in a catalog file`, f.key)
		case !f.taken && thinks:
			t.refuse(f.key, "this model does not take %q with reasoning; leave one of them out", f.key)
		case !f.taken:
			t.refuse(f.key, `this model does not take "temperature" and "top_p" together; leave one of them out`)
		default:
			t.out.Member(f.key, f.value)
		}
	}
}

// refuse refuses a field that the model does not take.
func (t *translation) refuse(param, format string, args ...any) {
	t.body.Fail(translate.NotTaken(param, format, args...))
}

// thinks reports whether the model thinks before it answers this request.
func (t *translation) thinks() bool {
	w := &t.thinking
	return w.manual || w.adaptive || t.opt.Rules.Thinks && w.Effort != off
}

// fraction returns a number from 0 to most as the API has it, nil for the default. Its numbers end
// at 1, which is the default: Anthropic's own API for OpenAI's SDKs caps a higher temperature
// there.
func (t *translation) fraction(key string, most float64) []byte {
	value := t.body.Get(key)
	if value == nil {
		return nil
	}
	f := number(value)
	switch {
	case !(f >= 0 && f <= most):
		t.body.Fail(translate.Invalid(key, "a number from 0 to "+strconv.FormatFloat(most, 'g', -1, 64)+" for this model"))
	case f > 1:
		t.leaveOut(key)
		return nil
	case f == 1:
		return nil
	}
	return value
}

func (t *translation) leaveOut(key string) {
	t.original.leftOut = append(t.original.leftOut, key)
}

// number returns the value of a JSON number, -1 for anything else.
func number(value []byte) float64 {
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil {
		return -1
	}
	return f
}
