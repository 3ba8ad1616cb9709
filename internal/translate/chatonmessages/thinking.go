package chatonmessages

import (
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// thinking is what a request asks of the model's thoughts, and what was sent.
type thinking struct {
	translate.Reasoning

	manual, adaptive bool
}

const off = translate.EffortOff

// readThinking reads what the request asks of the model's thoughts.
func (t *translation) readThinking() {
	r := translate.ReadReasoning(t.body)
	t.thinking.Reasoning, t.original.hideReasoning = r, r.Hidden
}

// putThinking maps what a request asks of the model's thoughts to what the model takes, and
// response_format, which has the same member.
func (t *translation) putThinking() {
	w, rules := &t.thinking, &t.opt.Rules
	effort := ""
	switch {
	case w.Effort == off:
		translate.PutThoughtsOff(&t.out, t.body, rules.Thinks, rules.Off(), w.Param)
	case w.Effort == "" && w.Budget == 0:
	case w.Budget > 0 && rules.Takes(catalog.ThinkingEnabled):
		t.putBudget(w.Budget, "reasoning.max_tokens")
	case rules.Takes(catalog.ThinkingAdaptive):
		effort = t.putAdaptive()
	case rules.Takes(catalog.ThinkingEnabled):
		t.putBudget(t.limit*translate.EffortShare[w.Effort]/100, w.Param)
	}
	t.putOutput(effort)
}

// putAdaptive lets the model decide how long it thinks, and returns the effort that it gets: the
// highest that it has of those up to the one that the request asks for.
func (t *translation) putAdaptive() (effort string) {
	w, rules := &t.thinking, &t.opt.Rules
	w.adaptive = true
	translate.PutAdaptive(&t.out, rules.HidesThoughts && w.Shown)
	return w.Among(rules.Efforts)
}

// putBudget lets the model think up to a number of tokens. They count as output. The API refuses
// such thoughts where a tool is required, and in the middle of a turn that did not begin with
// thoughts, as those of most chat clients: then the model goes on without.
func (t *translation) putBudget(budget int64, param string) {
	if c := t.conversation; c.Choice.Required() || c.Loops() && !c.Thought() || c.Continues() {
		return
	}
	t.thinking.manual = true
	translate.PutBudget(&t.out, t.body, budget, t.limit, param)
}

// putOutput puts effort and schema; either may be empty.
func (t *translation) putOutput(effort string) {
	t.out.Object("output_config")
	if effort != "" {
		t.out.StringMember("effort", effort)
	}
	if t.format.Schema != nil {
		t.out.Object("format")
		t.out.StringMember("type", "json_schema")
		t.out.Member("schema", translate.ClosedSchema(t.format.Schema))
		t.out.End()
	}
	t.out.EndOptional()
}
