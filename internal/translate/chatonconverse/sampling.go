package chatonconverse

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// putSampling maps temperature and top_p, and leaves out what the model does not take.
func (t *translation) putSampling() {
	either := false // one was sent, and the model takes no other
	for _, f := range []struct {
		key, as string
		most    float64 // of the caller's API
	}{{"temperature", "temperature", 2}, {"top_p", "topP", 1}} {
		value := t.body.Get(f.key)
		if value == nil {
			continue
		}
		n, err := strconv.ParseFloat(string(value), 64)
		switch {
		case err != nil || !(n >= 0 && n <= f.most):
			t.body.Fail(translate.Invalid(f.key, "a number from 0 to "+strconv.FormatFloat(f.most, 'g', -1, 64)))
		case n > 1, either, !t.samples(): // Bedrock's end at 1
			t.leaveOut(f.key)
		default:
			t.out.Member(f.as, value)
			either = t.sampling == catalog.SamplingEither
		}
	}
}

// putTopK maps top_k.
func (t *translation) putTopK() {
	switch _, n := t.body.Int("top_k", -1); {
	case n <= 0: // 0 and -1 are OpenRouter's words for none
	case t.family.topK == nil:
		t.body.Fail(translate.Unsupported("top_k"))
	case !t.samples():
		t.leaveOut("top_k")
	default:
		t.family.topK(&t.extra, n)
	}
}

// samples reports whether the model takes temperature, top_p and top_k.
func (t *translation) samples() bool {
	return t.sampling != catalog.SamplingRefused && t.sampling != catalog.SamplingIgnored
}

func (t *translation) leaveOut(field string) {
	t.original.leftOut = append(t.original.leftOut, field)
}
