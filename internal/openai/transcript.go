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
	if i, ok := jsonscan.Find(body, members, "error"); ok && truthy(members[i].Value(body)) {
		sum.Err = call.Fault(ParseProviderError(body))
		return dst, sum, sum.Err
	}
	if i, ok := jsonscan.Find(body, members, "usage"); ok {
		sum.Usage, sum.HasUsage = transcriptUsage(members[i].Value(body))
	}
	if i, ok := jsonscan.Find(body, members, "duration"); ok && !sum.HasUsage {
		sum.Usage.Units[units.Millis] = millis(members[i].Value(body))
		sum.HasUsage = sum.Usage.Units.Some()
	}
	return append(dst, body...), sum, nil
}

// transcriptUsage reads the usage of a transcript: tokens, or seconds of the sound. OpenRouter's has
// both.
func transcriptUsage(value []byte) (Usage, bool) {
	if len(value) == 0 || value[0] != '{' {
		return Usage{}, false
	}
	u, ok := ParseUsage(value)
	members := jsonscan.Members(value, nil)
	if i, found := jsonscan.Find(value, members, "seconds"); found {
		u.Units[units.Millis] = millis(members[i].Value(value))
	}
	if i, found := jsonscan.Find(value, members, "cost"); found {
		u.Cost = reportedCost(members[i].Value(value), members[i].Kind)
	}
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
