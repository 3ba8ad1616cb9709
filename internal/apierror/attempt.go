package apierror

// Why a call does not ask one of its targets, if no code of a refusal says it.
const (
	Cooling           = "cooling"
	ExcludedByRequest = "excluded_by_request"
	NoFallbacks       = "no_fallbacks"
	NoMoreAttempts    = "no_more_attempts"
	ProviderLeftOut   = "provider_left_out"
)

// AttemptMeaning returns what the code of an attempt at a provider, or of a target that was not
// asked, means, "" if that is not known. The code of a time limit is "timeout_" and the limit.
func AttemptMeaning(code string) string {
	if own, ok := ofAttempts[code]; ok {
		return own
	}
	return Code(code).Meaning().Text
}

// ofAttempts are the codes that no refusal has: of the time limits of the configuration, and of
// targets that were not asked.
var ofAttempts = map[string]string{
	"timeout_connect":    "No connection within `connect`.",
	"timeout_first_byte": "The answer did not begin within `first_byte`, `whole` or `header`.",
	"timeout_idle":       "The provider was silent within its answer for longer than `idle`.",
	"timeout_call":       "The request and its answer took longer than `call`.",
	Cooling:              "It cools down after failures, so others are asked first.",
	ExcludedByRequest:    "A field of the request leaves it out.",
	NoFallbacks:          "The request forbids other targets (`allow_fallbacks`).",
	NoMoreAttempts:       "The call had made as many requests, or taken as long, as one may.",
	ProviderLeftOut:      "Its provider is `optional` and has no `api_key`.",
}
