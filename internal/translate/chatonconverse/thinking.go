package chatonconverse

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// readThinking maps what the request asks of the model's thoughts to what its family takes.
func (t *translation) readThinking() error {
	r, err := translate.ReadReasoning(t.body)
	if err != nil {
		return err
	}
	t.original.hideReasoning = r.Hidden
	switch {
	case r.Effort == translate.EffortOff:
		return t.putOff(r.Param)
	case r.Effort == "" && r.Budget == 0:
		return nil
	case t.family.thinking == nil:
		t.leaveOut(r.Param)
		return nil
	}
	return t.family.thinking(t, r)
}

// putOff switches the thoughts of a Claude off that thinks unasked. Others do not think then.
func (t *translation) putOff(param string) error {
	rules := &t.family.rules
	switch way := rules.Off(); {
	case !rules.Thinks:
	case way == "":
		return apierror.New(apierror.UnsupportedParameter,
			"%q cannot switch the thoughts of this model off; leave it out, or ask for a low effort", param).WithParam(param)
	default:
		t.extra = append(append(append(translate.AppendKey(t.extra, "thinking"), `{"type":"`...), way...), `"}`...)
	}
	return nil
}

// thinkLikeClaude gives an effort to a Claude that takes one, and a budget to the others. These refuse
// thoughts where a tool is required, and in the middle of a turn of the model's that did not begin with
// thoughts, as those of most chat clients: then the model goes on without.
func (t *translation) thinkLikeClaude(r translate.Reasoning) error {
	rules := &t.family.rules
	switch {
	case rules.Takes(catalog.ThinkingAdaptive) && (r.Budget == 0 || !rules.Takes(catalog.ThinkingEnabled)):
		t.putAdaptive(r)
	case !rules.Takes(catalog.ThinkingEnabled), t.tools.choice.Required(), t.turns.looped && !t.turns.thought, t.turns.unanswered:
		t.leaveOut(r.Param)
	default:
		return t.putBudget(r)
	}
	return nil
}

func (t *translation) putAdaptive(r translate.Reasoning) {
	t.extra = append(translate.AppendKey(t.extra, "thinking"), `{"type":"adaptive"`...)
	if t.family.rules.HidesThoughts && r.Shown {
		t.extra = append(t.extra, `,"display":"summarized"`...)
	}
	t.extra = append(t.extra, '}')
	if effort := r.Among(t.family.rules.Efforts); effort != "" {
		t.extra = append(translate.AppendKey(t.extra, "output_config"), '{')
		t.extra = append(translate.AppendTextMember(t.extra, "effort", []byte(effort)), '}')
	}
	t.sampling = catalog.SamplingRefused
}

const (
	// leastBudget is the smallest budget of Claude's thoughts, in tokens.
	leastBudget = 1024
	// usualOutput stands for the output where nobody limits it, to give an effort its part.
	usualOutput = 16_384
)

// putBudget lets Claude think up to a number of tokens, which count as output.
func (t *translation) putBudget(r translate.Reasoning) error {
	budget := r.Budget
	if budget == 0 {
		limit := t.limit
		if limit == 0 {
			limit = usualOutput
		}
		budget = limit * translate.EffortShare[r.Effort] / 100
	}
	budget = max(budget, leastBudget)
	if t.limit > 0 && budget >= t.limit {
		return apierror.New(apierror.InvalidValue, "%q gives thoughts %d tokens, and all of the answer may have %d: set a higher limit of the output",
			r.Param, budget, t.limit).WithParam(r.Param)
	}
	t.extra = append(translate.AppendKey(t.extra, "thinking"), `{"type":"enabled"`...)
	t.extra = append(translate.AppendIntMember(t.extra, "budget_tokens", budget), '}')
	t.sampling = catalog.SamplingRefused
	return nil
}

// threeEfforts are those of Nova 2 and of models with OpenAI's word for it.
var threeEfforts = []string{"low", "medium", "high"}

// thinkLikeNova gives Nova an effort. It takes no limit of the output with the highest one.
func (t *translation) thinkLikeNova(r translate.Reasoning) error {
	effort := r.Among(threeEfforts)
	if effort == "high" && t.limit > 0 {
		effort = "medium"
	}
	t.extra = append(translate.AppendKey(t.extra, "reasoningConfig"), `{"type":"enabled"`...)
	t.extra = append(translate.AppendTextMember(t.extra, "maxReasoningEffort", []byte(effort)), '}')
	t.sampling = catalog.SamplingRefused
	return nil
}

func (t *translation) thinkByEffort(r translate.Reasoning) error {
	t.extra = translate.AppendTextMember(t.extra, "reasoning_effort", []byte(r.Among(threeEfforts)))
	return nil
}
