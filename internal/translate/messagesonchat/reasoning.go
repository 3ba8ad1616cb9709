package messagesonchat

import (
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// The efforts that a model is expected to know.
var (
	usualEfforts      = []string{"low", "medium", "high"}
	openRouterEfforts = []string{"low", "medium", "high", "xhigh"}
)

// thinking is what a request says about thinking.
type thinking struct {
	typ    string // "" if the request says nothing
	budget []byte
	effort string // that the budget stands for
	hidden bool
}

func readThinking(body translate.Reader) (th thinking) {
	o, ok := body.Object("thinking", "type", "budget_tokens", "display")
	if !ok {
		return th
	}
	var n int64
	switch th.typ = translate.TypeOf(o); th.typ {
	case "enabled":
		if th.budget, n = o.Int("budget_tokens", 1); th.budget == nil {
			o.Fail(translate.Missing(o.Param("budget_tokens")))
		}
		th.effort = translate.BudgetEffort(n)
	case "adaptive", "disabled":
	default:
		translate.RefuseType(o, th.typ)
	}
	switch display := o.DecodedText("display"); display {
	case "", "summarized":
	case "omitted":
		th.hidden = true
	default:
		o.Fail(translate.UnsupportedValue(o.Param("display"), display))
	}
	return th
}

// putReasoning maps thinking and output_config.effort. Adaptive thinking without an effort is what
// a model that reasons does by default. The caller gets the reasoning if it asked for thinking, and
// if it must send the reasoning back.
func (t *translation) putReasoning() {
	th := readThinking(t.body)
	config, _ := t.body.Object("output_config")
	asked := config.DecodedText("effort")
	if asked != "" && asked != translate.EffortOff && !slices.Contains(translate.Efforts, asked) {
		t.body.Fail(translate.UnsupportedValue("output_config.effort", asked))
	}
	on := th.typ == "enabled" || th.typ == "adaptive"
	t.original.thinking = on && !th.hidden || t.opt.Chat.ReasoningContent
	t.original.signed = on && t.opt.SignedReasoning
	switch {
	case t.opt.NoReasoning:
		return
	case th.typ == "disabled":
		asked = ""
		if slices.Contains(t.opt.Efforts, translate.EffortOff) {
			asked = translate.EffortOff
		}
	case asked == "" && t.opt.OpenRouter && th.budget != nil:
		t.out.Object("reasoning")
		t.out.Member("max_tokens", th.budget)
		t.out.End()
		return
	case asked == "" && t.opt.OpenRouter && on:
		t.out.Object("reasoning")
		t.out.BoolMember("enabled", true)
		t.out.End()
		return
	case asked == "":
		asked = th.effort
	case asked == "high" && !t.opt.Reasons && !t.opt.OpenRouter && len(t.opt.Efforts) == 0:
		asked = th.effort
	}
	if asked != "" {
		t.out.StringMember("reasoning_effort", t.knownEffort(asked))
	}
}

// knownEffort returns the highest effort that the model knows and that is not above the one asked
// for, or else the lowest that it knows.
func (t *translation) knownEffort(asked string) string {
	known := t.opt.Efforts
	switch {
	case len(known) > 0:
	case t.opt.OpenRouter:
		known = openRouterEfforts
	default:
		known = usualEfforts
	}
	if asked == translate.EffortOff && slices.Contains(known, asked) {
		return asked
	}
	has := slices.DeleteFunc(slices.Clone(translate.Efforts), func(effort string) bool { return !slices.Contains(known, effort) })
	return translate.Reasoning{Effort: asked}.Among(has)
}
