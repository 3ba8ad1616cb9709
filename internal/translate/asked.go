package translate

import "slices"

// Reasoning is what a chat request asks of the model's thoughts.
type Reasoning struct {
	Effort string // "" for none; EffortOff: no thoughts
	Budget int64  // tokens, 0 for none
	Param  string // the field that asks
	Shown  bool   // the caller wants to see them
	Hidden bool   // the caller does not
}

// EffortOff is the effort that switches thoughts off.
const EffortOff = "none"

// EffortShare is the part of the output that an effort gives to thoughts, in percent, as OpenRouter
// has it.
var EffortShare = map[string]int64{"minimal": 10, "low": 20, "medium": 50, "high": 80, "xhigh": 95, "max": 95}

// ReadReasoning reads reasoning_effort, include_reasoning and OpenRouter's object reasoning.
func ReadReasoning(body Reader) (r Reasoning) {
	r.Effort, r.Param = body.DecodedText("reasoning_effort"), "reasoning_effort"
	if o, ok := body.Object("reasoning", "effort", "enabled", "exclude", "max_tokens", "summary"); ok {
		r.read(o)
	}
	include := body.Bool("include_reasoning")
	r.Hidden = r.Hidden || body.Get("include_reasoning") != nil && !include
	if r.Effort != "" && r.Effort != EffortOff && EffortShare[r.Effort] == 0 {
		body.Fail(Invalid(r.Param, "none, minimal, low, medium, high, xhigh or max"))
	}
	r.Shown = (include || r.Effort != "" || r.Budget > 0) && !r.Hidden
	return r
}

func (r *Reasoning) read(o Reader) {
	r.Hidden = o.Bool("exclude")
	_, r.Budget = o.Int("max_tokens", 0)
	effort, enabled := o.DecodedText("effort"), o.Bool("enabled")
	switch {
	case r.Effort != "":
	case effort != "":
		r.Effort, r.Param = effort, o.Param("effort")
	case o.Get("enabled") == nil && r.Budget > 0:
		r.Param = o.Param("max_tokens")
	case o.Get("enabled") == nil:
	case enabled:
		r.Effort, r.Param = "medium", o.Param("enabled")
	default:
		r.Effort, r.Param = EffortOff, o.Param("enabled")
	}
}

// Efforts are all that a request can ask for, in ascending order.
var Efforts = []string{"minimal", "low", "medium", "high", "xhigh", "max"}

// BudgetEffort returns the effort that stands for a budget of thoughts in tokens, as LiteLLM has
// it.
func BudgetEffort(tokens int64) string {
	switch {
	case tokens >= 10_000:
		return "high"
	case tokens >= 5_000:
		return "medium"
	}
	return "low"
}

// Among returns which effort a model gets of those that it has, in ascending order: the highest up
// to the one that the request asks for, or else the lowest; "" if it has none.
func (r Reasoning) Among(has []string) (effort string) {
	wanted := r.rank()
	for _, name := range has {
		if effort == "" || slices.Index(Efforts, name) <= wanted {
			effort = name
		}
	}
	return effort
}

// AtLeast returns likewise the lowest effort from the one that the request asks for on, or else the
// highest.
func (r Reasoning) AtLeast(has []string) (effort string) {
	wanted := r.rank()
	for _, effort = range has {
		if slices.Index(Efforts, effort) >= wanted {
			break
		}
	}
	return effort
}

// rank returns where the effort that the request asks for is among all, -1 for none.
func (r Reasoning) rank() int {
	wanted := r.Effort
	if wanted == "" {
		wanted = BudgetEffort(r.Budget)
	}
	return slices.Index(Efforts, wanted)
}
