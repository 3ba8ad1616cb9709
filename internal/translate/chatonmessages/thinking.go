package chatonmessages

import (
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// thinking is what a request asks of the model's thoughts.
type thinking struct {
	effort string // "" for none; off: no thoughts
	budget int64  // tokens, 0 for none
	param  string // the field that asks
	shown  bool   // the caller wants to see them

	manual, adaptive bool // what was sent
}

const off = translate.EffortOff

// readThinking reads what the request asks of the model's thoughts.
func (t *translation) readThinking() error {
	r, err := translate.ReadReasoning(t.body)
	if err != nil {
		return err
	}
	t.thinking = thinking{effort: r.Effort, budget: r.Budget, param: r.Param, shown: r.Shown}
	t.original.hideReasoning = r.Hidden
	return nil
}

// putThinking maps what a request asks of the model's thoughts to what the model takes, and
// response_format, which has the same member.
func (t *translation) putThinking() (err error) {
	w, rules := &t.thinking, &t.opt.Rules
	effort := ""
	switch {
	case w.effort == off:
		err = t.putOff()
	case w.effort == "" && w.budget == 0:
	case w.budget > 0 && rules.Takes(catalog.ThinkingEnabled):
		err = t.putBudget(w.budget, "reasoning.max_tokens")
	case rules.Takes(catalog.ThinkingAdaptive):
		effort = t.putAdaptive()
	case rules.Takes(catalog.ThinkingEnabled):
		err = t.putBudget(t.limit*translate.EffortShare[w.effort]/100, w.param)
	}
	if err != nil {
		return err
	}
	t.putOutput(effort)
	return nil
}

// putOff switches thoughts off.
func (t *translation) putOff() (err error) {
	t.out, err = translate.AppendThoughtsOff(t.out, t.opt.Rules.Thinks, t.opt.Rules.Off(), t.thinking.param)
	return err
}

// putAdaptive lets the model decide how long it thinks, and returns the effort that it gets: the
// highest that it has of those up to the one that the request asks for.
func (t *translation) putAdaptive() (effort string) {
	w, rules := &t.thinking, &t.opt.Rules
	w.adaptive = true
	t.out = translate.AppendAdaptive(t.out, rules.HidesThoughts && w.shown)
	return translate.Reasoning{Effort: w.effort, Budget: w.budget}.Among(rules.Efforts)
}

// putBudget lets the model think up to a number of tokens. They count as output. The API refuses
// such thoughts where a tool is required, and in the middle of a turn that did not begin with
// thoughts, as those of most chat clients: then the model goes on without.
func (t *translation) putBudget(budget int64, param string) (err error) {
	if turns := &t.conversation.turns; t.tools.choice.Required() || turns.looped && !turns.thought || turns.unanswered {
		return nil
	}
	t.thinking.manual = true
	t.out, err = translate.AppendBudget(t.out, budget, t.limit, param)
	return err
}

// putOutput puts effort and schema; either may be empty.
func (t *translation) putOutput(effort string) {
	if effort == "" && t.schema == nil {
		return
	}
	t.out = append(t.out, `,"output_config":{`...)
	if effort != "" {
		t.out = translate.AppendTextMember(t.out, "effort", []byte(effort))
	}
	if t.schema != nil {
		t.out = append(translate.AppendKey(t.out, "format"), `{"type":"json_schema"`...)
		t.out = append(appendClosed(translate.AppendKey(t.out, "schema"), t.schema), '}')
	}
	t.out = append(t.out, '}')
}
