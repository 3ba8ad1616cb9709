package chatonmessages

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// leastTopP is the smallest top_p that the API takes together with thoughts of a budget.
const leastTopP = 0.95

// hottest is the highest temperature of OpenAI.
const hottest = 2

// putSampling maps temperature, top_p and top_k, as far as the model takes them. Values that mean
// the default are left out.
func (t *translation) putSampling() error {
	rules, thinks := t.opt.Rules.Sampling, t.thinks()
	temperature, err := t.fraction("temperature", hottest)
	if err != nil {
		return err
	}
	topP, err := t.fraction("top_p", 1)
	if err != nil {
		return err
	}
	topK, n, err := t.body.Int("top_k", -1)
	if err != nil {
		return err
	}
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
			return apierror.New(apierror.UnsupportedParameter,
				`this model does not take %q; leave it out, or have the operator set "sampling": "ignored" for the model in a catalog file`, f.key).WithParam(f.key)
		case !f.taken && thinks:
			return apierror.New(apierror.UnsupportedParameter, "this model does not take %q with reasoning; leave one of them out", f.key).WithParam(f.key)
		case !f.taken:
			return apierror.New(apierror.UnsupportedParameter, `this model does not take "temperature" and "top_p" together; leave one of them out`).WithParam(f.key)
		default:
			t.put(f.key, f.value)
		}
	}
	return nil
}

// thinks reports whether the model thinks before it answers this request.
func (t *translation) thinks() bool {
	w := &t.thinking
	return w.manual || w.adaptive || t.opt.Rules.Thinks && w.effort != off
}

// fraction returns a number from 0 to most as the API has it, nil for the default. Its numbers end
// at 1, which is the default: Anthropic's own API for OpenAI's SDKs caps a higher temperature there.
func (t *translation) fraction(key string, most float64) ([]byte, error) {
	value := t.body.Get(key)
	if value == nil {
		return nil, nil
	}
	f := number(value)
	switch {
	case !(f >= 0 && f <= most):
		return nil, translate.Invalid(key, "a number from 0 to "+strconv.FormatFloat(most, 'g', -1, 64)+" for this model")
	case f > 1:
		t.leaveOut(key)
		return nil, nil
	case f == 1:
		return nil, nil
	}
	return value, nil
}

func (t *translation) leaveOut(key string) {
	t.conversation.leftOut = append(t.conversation.leftOut, key)
}

// number returns the value of a JSON number, -1 for anything else.
func number(value []byte) float64 {
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil {
		return -1
	}
	return f
}
