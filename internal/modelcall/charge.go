package modelcall

import (
	"github.com/gatehouse-proxy/gatehouse/internal/admission"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
)

// charge holds a call to the caps and budgets of its key and model: it reserves what the call may
// use, and in the end charges what it used.
type charge struct {
	deps   *Deps
	record *activity.Record
	key    *policy.KeyLimits
	named  []*policy.ModelLimits // of the name in the request
	target *target               // the one that is asked, or will be; nil before the model is known

	spending  admission.Spending
	requested params.RequestedLimits
	cacheHour bool // what the call writes to the provider's cache is kept for an hour, unless usage says how long
	free      bool // nothing is charged
}

// capsOf returns the caps that the key and all of the limits set.
func (g *charge) capsOf(limits ...[]*policy.ModelLimits) (caps policy.Caps) {
	caps = g.key.Caps
	for _, list := range limits {
		for _, m := range list {
			caps = caps.Within(m.Caps)
		}
	}
	return caps
}

// checkSize holds the body to the limit of the model.
func (g *charge) checkSize(t *target, bytes int) error {
	if most := t.allowed.caps.MaxBody(); int64(bytes) > most {
		return g.capRefusal(t, policy.CapBody, apierror.New(apierror.RequestTooLarge,
			"the request body has %d bytes; the limit of the model %q is %d bytes", bytes, g.record.Model, most))
	}
	return nil
}

// capRefusal adds to the refusal by a cap of a target whose cap it is.
func (g *charge) capRefusal(t *target, option policy.Cap, e *apierror.Error) *apierror.Error {
	return policy.CapRefusal(e, option, t.allowed.caps, g.record.Key, g.key, g.named, t.own)
}

// check holds the request to the caps of a target and decides the bound of the output there. Tools
// counts those of the request. List is the field that has the messages.
func (g *charge) check(t *target, tools func() int, list string) error {
	requested, caps := &g.requested, &t.allowed.caps
	t.allowed.output, t.allowed.setOutput = requested.Output, false
	if caps.Tools > 0 {
		if n := tools(); n > caps.Tools {
			return g.capRefusal(t, policy.CapTools, apierror.New(apierror.InvalidValue,
				"the request declares %d tools; at most %d are allowed here", n, caps.Tools).WithParam("tools"))
		}
	}
	if most := caps.Messages; most > 0 && requested.Messages > most {
		return g.capRefusal(t, policy.CapMessages, apierror.New(apierror.InvalidValue,
			"%q has %d elements; at most %d are allowed here", list, requested.Messages, most).WithParam(list))
	}
	switch most := caps.Output; {
	case most == 0 || !t.op.Generates || t.op.Compacts && policy.Lesser(t.model.MaxOutput, most) == t.model.MaxOutput:
	case t.op.Compacts:
		return g.capRefusal(t, policy.CapOutput, apierror.New(apierror.InvalidValue,
			"a compaction may have as many tokens as the model writes; at most %d are allowed here", most))
	case requested.Other != "":
		return g.capRefusal(t, policy.CapOutput, apierror.New(apierror.InvalidValue,
			"%q is not possible where the output is limited; use %q", requested.Other, requested.Param).WithParam(requested.Other))
	case requested.Output == 0:
		t.allowed.output, t.allowed.setOutput = most, true
	case requested.Output > most && caps.Clamp:
		t.allowed.output, t.allowed.setOutput = most, true
	case requested.Output > most:
		return g.capRefusal(t, policy.CapOutput, apierror.New(apierror.InvalidValue,
			"%q is %d; at most %d is allowed here", requested.Param, requested.Output, most).WithParam(requested.Param))
	}
	if field := t.outputField(); field != "" && t.allowed.output > 0 && !requested.SaysOnly(field) {
		t.allowed.setOutput = true
	}
	return nil
}

// reservation returns what a call takes that may be sent to any of the targets: the most of each.
func reservation(targets []*target) (most, likely limits.Amount) {
	for _, t := range targets {
		most = limits.Amount{Nano: max(most.Nano, t.allowed.use.most.Nano), Tokens: max(most.Tokens, t.allowed.use.most.Tokens)}
		likely = limits.Amount{Nano: max(likely.Nano, t.allowed.use.likely.Nano), Tokens: max(likely.Tokens, t.allowed.use.likely.Tokens)}
	}
	return most, likely
}

// maxPrice returns the price that was reserved for, if the provider is a router that could choose a
// dearer upstream and must be told. Otherwise it returns nil.
func (g *charge) maxPrice(t *target) *wire.MaxPrice {
	if !g.key.HardMoney() || !t.allowed.use.priced || !t.provider.Dialect.OpenRouterFields {
		return nil
	}
	p := t.model.Price
	return &wire.MaxPrice{Prompt: p.Prompt.Rate.PerMillion(), Completion: p.Completion.Rate.PerMillion()}
}

// outputCap returns the output limit that the record shows: one that the caller did not ask for.
func (g *charge) outputCap(t *target) int64 {
	if t.allowed.setOutput && t.allowed.output != g.requested.Output {
		return t.allowed.output
	}
	return 0
}
