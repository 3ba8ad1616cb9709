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

// EffortShare is the part of the output that an effort gives to thoughts, in percent, as OpenRouter has
// it.
var EffortShare = map[string]int64{"minimal": 10, "low": 20, "medium": 50, "high": 80, "xhigh": 95, "max": 95}

// ReadReasoning reads reasoning_effort, include_reasoning and OpenRouter's object reasoning.
func ReadReasoning(body Object) (r Reasoning, err error) {
	if r.Effort, err = body.DecodedText("reasoning_effort"); err != nil {
		return r, err
	}
	r.Param = "reasoning_effort"
	o, ok, err := body.Object("reasoning")
	if err == nil && ok {
		err = r.read(o)
	}
	if err != nil {
		return r, err
	}
	include, err := body.Bool("include_reasoning")
	if err != nil {
		return r, err
	}
	r.Hidden = r.Hidden || body.Get("include_reasoning") != nil && !include
	if r.Effort != "" && r.Effort != EffortOff && EffortShare[r.Effort] == 0 {
		return r, Invalid(r.Param, "none, minimal, low, medium, high, xhigh or max")
	}
	r.Shown = (include || r.Effort != "" || r.Budget > 0) && !r.Hidden
	return r, nil
}

func (r *Reasoning) read(o Object) (err error) {
	if err := o.Only("effort", "enabled", "exclude", "max_tokens", "summary"); err != nil {
		return err
	}
	if r.Hidden, err = o.Bool("exclude"); err != nil {
		return err
	}
	if _, r.Budget, err = o.Int("max_tokens", 0); err != nil {
		return err
	}
	effort, err := o.DecodedText("effort")
	if err != nil {
		return err
	}
	enabled, err := o.Bool("enabled")
	if err != nil {
		return err
	}
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
	return nil
}

// efforts are all that a request can ask for, in ascending order.
var efforts = []string{"minimal", "low", "medium", "high", "xhigh", "max"}

// Among returns which effort a model gets of those that it has, in ascending order: the highest up to the
// one that the request asks for, or else the lowest; "" if it has none. A budget is like an effort as
// LiteLLM has it.
func (r Reasoning) Among(has []string) (effort string) {
	wanted := r.rank()
	for _, name := range has {
		if effort == "" || slices.Index(efforts, name) <= wanted {
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
		if slices.Index(efforts, effort) >= wanted {
			break
		}
	}
	return effort
}

// rank returns where the effort that the request asks for is among all, -1 for none.
func (r Reasoning) rank() int {
	wanted := r.Effort
	switch {
	case wanted != "":
	case r.Budget >= 10_000:
		wanted = "high"
	case r.Budget >= 5_000:
		wanted = "medium"
	default:
		wanted = "low"
	}
	return slices.Index(efforts, wanted)
}
