package openai

import (
	"math"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// TranscriptResult appends a provider's transcript as it came. A body that is an error, or no JSON
// object, is a [*apierror.Error], also in the summary, and dst is returned as it was.
func TranscriptResult(dst, body []byte, call Call) ([]byte, Summary, error) {
	var sum Summary
	members, err := jsonscan.Lenient(body, nil)
	if err != nil {
		sum.Err = call.Broken("answered what is not JSON").WithCause(err)
		return dst, sum, sum.Err
	}
	o := WalkedObject(body, members)
	if o.failed() {
		sum.Err = sum.fault(&call, body)
		return dst, sum, sum.Err
	}
	sum.Usage, sum.HasUsage = TranscriptUsage(o.Get("usage"))
	if duration := o.Get("duration"); duration != nil && !sum.HasUsage {
		sum.Usage.Units[units.Millis] = millis(duration)
		sum.HasUsage = sum.Usage.Units.Some()
	}
	return append(dst, body...), sum, nil
}

// TranscriptUsage reads the usage of a transcript: tokens, or seconds of the sound. OpenRouter's has
// both.
func TranscriptUsage(value []byte) (Usage, bool) {
	if len(value) == 0 || value[0] != '{' {
		return Usage{}, false
	}
	u, ok := ParseUsage(value)
	o := OpenObject(value, nil)
	u.Units[units.Millis] = millis(o.Get("seconds"))
	u.Cost = reportedCost(o.Kind('0', "cost", ""))
	return u, ok || u.Units.Some()
}

// millis returns seconds in milliseconds, rounded up; 0 for what is no such number.
func millis(seconds []byte) int64 {
	text, ok := jsonscan.String(seconds) // some write the duration as a string
	if !ok {
		text = string(seconds)
	}
	n, err := strconv.ParseFloat(text, 64)
	if ms := math.Ceil(n * 1000); err == nil && ms > 0 && ms < MaxTokens {
		return int64(ms)
	}
	return 0
}
