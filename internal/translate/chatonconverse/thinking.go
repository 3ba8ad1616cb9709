package chatonconverse

import (
	"cmp"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// readThinking maps what the request asks of the model's thoughts to what its family takes.
func (t *translation) readThinking() {
	r := translate.ReadReasoning(t.body)
	t.original.hideReasoning = r.Hidden
	switch {
	case r.Effort == translate.EffortOff:
		translate.PutThoughtsOff(&t.extra, t.body, t.family.rules.Thinks, t.family.rules.Off(), r.Param)
	case r.Effort == "" && r.Budget == 0:
	case t.family.thinking == nil:
		t.leaveOut(r.Param)
	default:
		t.family.thinking(t, r)
	}
}

// thinkLikeClaude gives an effort to a Claude that takes one, and a budget to the others. These
// refuse thoughts where a tool is required, and in the middle of a turn of the model's that did not
// begin with thoughts, as those of most chat clients: then the model goes on without.
func (t *translation) thinkLikeClaude(r translate.Reasoning) {
	rules, c := &t.family.rules, t.conversation
	switch {
	case rules.Takes(catalog.ThinkingAdaptive) && (r.Budget == 0 || !rules.Takes(catalog.ThinkingEnabled)):
		t.putAdaptive(r)
	case !rules.Takes(catalog.ThinkingEnabled), c.Choice.Required(), c.Loops() && !c.Thought(), c.Continues():
		t.leaveOut(r.Param)
	default:
		t.putBudget(r)
	}
}

func (t *translation) putAdaptive(r translate.Reasoning) {
	translate.PutAdaptive(&t.extra, t.family.rules.HidesThoughts && r.Shown)
	if effort := r.Among(t.family.rules.Efforts); effort != "" {
		t.extra.Object("output_config")
		t.extra.StringMember("effort", effort)
		t.extra.End()
	}
	t.sampling = catalog.SamplingRefused
}

// usualOutput stands for the output where nobody limits it, to give an effort its part.
const usualOutput = 16_384

// putBudget lets Claude think up to a number of tokens, which count as output.
func (t *translation) putBudget(r translate.Reasoning) {
	budget := cmp.Or(r.Budget, cmp.Or(t.limit, usualOutput)*translate.EffortShare[r.Effort]/100)
	translate.PutBudget(&t.extra, t.body, budget, t.limit, r.Param)
	t.sampling = catalog.SamplingRefused
}

// threeEfforts are those of Nova 2 and of models with OpenAI's word for it.
var threeEfforts = []string{"low", "medium", "high"}

// thinkLikeNova gives Nova an effort. It takes no limit of the output with the highest one.
func (t *translation) thinkLikeNova(r translate.Reasoning) {
	effort := r.Among(threeEfforts)
	if effort == "high" && t.limit > 0 {
		effort = "medium"
	}
	t.extra.Object("reasoningConfig")
	t.extra.StringMember("type", "enabled")
	t.extra.StringMember("maxReasoningEffort", effort)
	t.extra.End()
	t.sampling = catalog.SamplingRefused
}

func (t *translation) thinkByEffort(r translate.Reasoning) {
	t.extra.StringMember("reasoning_effort", r.Among(threeEfforts))
}
