package catalog

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Capabilities are what the Messages API takes for a model. Its rules differ from model to model,
// and a request that breaks one is a 400.
type Capabilities struct {
	// Thinking are the values of thinking.type that the model takes.
	Thinking []string
	// Thinks reports that the model thinks unless the request switches it off.
	Thinks bool
	// HidesThoughts reports that the text of thoughts is left out unless the request asks for it
	// (thinking.display).
	HidesThoughts bool
	// Efforts are the values of output_config.effort, in ascending order; none: no such field.
	Efforts []string
	// Sampling is what of temperature, top_p and top_k the model takes.
	Sampling Sampling
	// Prefill reports that the last message may be the assistant's, which the model continues.
	Prefill bool
	// ForcedTools reports that a tool_choice may require a tool.
	ForcedTools bool
	// MaxOutput is the most tokens of an answer, thoughts included; 0: unknown.
	MaxOutput int64
}

// The types of thinking.
const (
	ThinkingAdaptive     = "adaptive"
	ThinkingEnabled      = "enabled" // with a budget in tokens
	ThinkingDisabled     = "disabled"
	ThinkingBetweenTools = "between_tools" // as good as disabled
)

// Sampling is a rule for temperature, top_p and top_k.
type Sampling string

// The rules. Values that mean the default never count against one.
const (
	SamplingFree     Sampling = "free"    // the three as they are; with thoughts only a high top_p
	SamplingEither   Sampling = "either"  // free, but temperature and top_p exclude each other
	SamplingRefused  Sampling = "refused" // none of them
	SamplingIgnored  Sampling = "ignored" // none of them, and a request that has one goes without it
	samplingsAllowed          = "free, either, refused, ignored"
)

func (s Sampling) valid() bool {
	switch s {
	case SamplingFree, SamplingEither, SamplingRefused, SamplingIgnored:
		return true
	}
	return false
}

// Takes reports whether the model takes this type of thinking.
func (c *Capabilities) Takes(thinking string) bool { return slices.Contains(c.Thinking, thinking) }

// Off returns the type of thinking that switches thoughts off, "" if nothing does.
func (c *Capabilities) Off() string {
	for _, off := range []string{ThinkingDisabled, ThinkingBetweenTools} {
		if c.Takes(off) {
			return off
		}
	}
	return ""
}

// CapabilitiesDate is when the table below was compared with Anthropic's documentation: the model
// pages, "What's new", migration guides and the pages on thinking and effort.
const CapabilitiesDate = "2026-11-22"

var (
	onlyAdaptive = []string{ThinkingAdaptive}
	adaptiveOrNo = []string{ThinkingAdaptive, ThinkingDisabled}
	onlyBudget   = []string{ThinkingEnabled, ThinkingDisabled}

	fiveEfforts = []string{"low", "medium", "high", "xhigh", "max"}
	fourEfforts = []string{"low", "medium", "high", "max"}
)

const (
	k32  = 32_000
	k64  = 64_000
	k128 = 128_000
)

// claudes has the models of Anthropic by family and version.
//
// Not verified: Mythos 5.1, which has the rules of Fable 5.1; that Haiku 5.5 takes a forced tool,
// which its migration guide does not name among the changes; that temperature and top_p exclude
// each other on the 4.6 models, as on those before. Opus 5 and Haiku 5.5 take "disabled" only up to
// the effort high, and their default is not above that. On models that do not think by default
// "disabled" is documented, and was seen refused on some: nothing should be sent there.
var claudes = map[string]Capabilities{
	"opus-5-5":   {onlyAdaptive, true, true, fiveEfforts, SamplingRefused, false, false, k128},
	"sonnet-5-5": {[]string{ThinkingAdaptive, ThinkingBetweenTools}, true, true, fiveEfforts, SamplingRefused, false, false, k128},
	"haiku-5-5":  {adaptiveOrNo, true, true, fiveEfforts, SamplingRefused, false, true, k128},
	"fable-5-1":  {onlyAdaptive, true, true, fiveEfforts, SamplingRefused, false, false, k128},
	"mythos-5-1": {onlyAdaptive, true, true, fiveEfforts, SamplingRefused, false, false, k128},
	"fable-5":    {onlyAdaptive, true, true, fiveEfforts, SamplingRefused, false, true, k128},
	"mythos-5":   {onlyAdaptive, true, true, fiveEfforts, SamplingRefused, false, true, k128},
	"opus-5":     {adaptiveOrNo, true, true, fiveEfforts, SamplingRefused, false, true, k128},
	"sonnet-5":   {adaptiveOrNo, true, true, fiveEfforts, SamplingRefused, false, true, k128},
	"opus-4-8":   {adaptiveOrNo, false, true, fiveEfforts, SamplingRefused, false, true, k128},
	"opus-4-7":   {adaptiveOrNo, false, true, fiveEfforts, SamplingRefused, false, true, k128},
	"opus-4-6":   {[]string{ThinkingAdaptive, ThinkingEnabled, ThinkingDisabled}, false, false, fourEfforts, SamplingEither, false, true, k128},
	"sonnet-4-6": {[]string{ThinkingAdaptive, ThinkingEnabled, ThinkingDisabled}, false, false, fourEfforts, SamplingEither, false, true, k128},
	"opus-4-5":   {onlyBudget, false, false, []string{"low", "medium", "high"}, SamplingEither, true, true, k64},
	"sonnet-4-5": {onlyBudget, false, false, nil, SamplingEither, true, true, k64},
	"haiku-4-5":  {onlyBudget, false, false, nil, SamplingEither, true, true, k64},
	"opus-4-1":   {onlyBudget, false, false, nil, SamplingEither, true, true, k32},
	"opus-4":     {onlyBudget, false, false, nil, SamplingFree, true, true, k32},
	"sonnet-4":   {onlyBudget, false, false, nil, SamplingFree, true, true, k64},
	"sonnet-3-7": {onlyBudget, false, false, nil, SamplingFree, true, true, k64},
	"sonnet-3-5": {nil, false, false, nil, SamplingFree, true, true, 8192},
	"haiku-3-5":  {nil, false, false, nil, SamplingFree, true, true, 8192},
	"opus-3":     {nil, false, false, nil, SamplingFree, true, true, 4096},
	"haiku-3":    {nil, false, false, nil, SamplingFree, true, true, 4096},
}

var (
	// newestClaude is for Claude models that are not in the table: the strictest rules of the newest
	// ones, and an output that all since version 4.5 can give.
	newestClaude = Capabilities{onlyAdaptive, true, true, fiveEfforts, SamplingRefused, false, false, k64}

	// otherModel is for models of other vendors that have the Messages API too. They follow its
	// older rules.
	otherModel = Capabilities{onlyBudget, false, false, nil, SamplingFree, true, true, 0}
)

// claudeName finds family and version in the names that Anthropic and others give its models:
// claude-opus-4-5-20251101, anthropic/claude-opus-4.5, global.anthropic.claude-sonnet-5-v1:0,
// claude-3-7-sonnet@20250219.
var claudeName = regexp.MustCompile(`claude-(?:([a-z]+)-([0-9]+)(?:[-.]([0-9]+))?|([0-9]+)(?:[-.]([0-9]+))?-([a-z]+))`)

// CapabilitiesOf returns the capabilities of a model by its name at the provider. They are data of
// [CapabilitiesDate]; a catalog file can state others.
func CapabilitiesOf(name string) Capabilities {
	name = strings.ToLower(name)
	match := claudeName.FindStringSubmatch(name)
	if match == nil {
		if strings.Contains(name, "claude") {
			return newestClaude
		}
		return otherModel
	}
	key := match[1] + match[6] + "-" + match[2] + match[4]
	if minor := match[3] + match[5]; minor != "" && minor != "0" && len(minor) <= 2 { // a longer one is a date
		key += "-" + minor
	}
	if c, ok := claudes[key]; ok {
		return c
	}
	return newestClaude
}

// MessagesRules returns what the Messages API takes for the model: what a catalog file states, or
// else [CapabilitiesOf] its name.
func (m *Model) MessagesRules() Capabilities {
	c := CapabilitiesOf(cmp.Or(m.Base, m.Name))
	if m.Capabilities != nil {
		c = *m.Capabilities
	}
	if m.MaxOutput > 0 {
		c.MaxOutput = m.MaxOutput
	}
	return c
}
