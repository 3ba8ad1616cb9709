package apierror

import "strings"

// Skipped begins the code of a target that was not asked. "cooling" or a code of ours follows.
const Skipped = "skipped_"

// AttemptMeaning returns what the code of an attempt at a provider means, "" if that is not known. The
// code of a time limit is "timeout_" and the limit.
func AttemptMeaning(code string) string {
	switch why, skipped := strings.CutPrefix(code, Skipped); {
	case !skipped:
	case why == "cooling":
		return "It was not asked first: it cools down after failures."
	default:
		return "It was not asked: the request is not possible there. " + Code(why).Meaning().Text
	}
	if limit, ok := timeLimits[code]; ok {
		return limit
	}
	return Code(code).Meaning().Text
}

// timeLimits are the codes of attempts that a time limit of the configuration ended.
var timeLimits = map[string]string{
	"timeout_connect":    "No connection within `connect`.",
	"timeout_first_byte": "The answer did not begin within `first_byte`, `whole` or `header`.",
	"timeout_idle":       "The provider was silent within its answer for longer than `idle`.",
	"timeout_call":       "The request and its answer took longer than `call`.",
}
