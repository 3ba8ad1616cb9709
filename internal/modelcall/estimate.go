package modelcall

import (
	"cmp"
	"math"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/policy"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
)

// estimate is what a call will use, as far as its request says.
type estimate struct {
	likely limits.Amount // for soft budgets and token rates
	most   limits.Amount // an upper bound, for hard budgets
	bound  catalog.Most  // the tokens of most
	priced bool          // most is an upper bound of money
	prompt int64         // tokens of the prompt, for an answer without usage; 0: not estimated
}

const (
	// defaultOutput is reserved for a choice, and asked for, where neither the request nor the
	// catalog nor a cap says how long it may be.
	defaultOutput = 16_384

	// imageTokens is more than a provider counts for one image: OpenAI's highest count is 48,169
	// (gpt-4o-mini, eight tiles).
	imageTokens = 50_000

	// builtInTokens is more than a provider adds to the prompt for a tool that it describes itself
	// (a shell, a computer). Providers document less than 1,500 tokens; OpenAI documents nothing.
	builtInTokens = 4_096

	// The estimates, for soft budgets, token rates and answers whose usage is not known: English
	// text has four bytes a token.
	bytesPerToken = 4
	likelyImage   = 1_000
	likelyBuiltIn = 500
	likelyOutput  = 1_024

	// leastBytesPerToken is for text that is charged: some languages have three bytes a token.
	leastBytesPerToken = 3
)

// estimateUse finds what the call will likely use at a target and, under a hard budget, the most that
// it can use there.
func (g *charge) estimateUse(t *target, bytes int64, content params.Content) error {
	g.estimateLikely(t, bytes, content)
	if !g.key.Hard() {
		return nil
	}
	return g.estimateMost(t, bytes, content)
}

func (g *charge) estimateLikely(t *target, bytes int64, content params.Content) {
	output := int64(likelyOutput)
	if t.output > 0 {
		output = min(output, t.output+content.Thinking)
	}
	t.use.prompt = likelyPrompt(bytes, content, t.account.builtIn)
	output *= g.requested.Choices
	t.use.likely.Tokens = t.use.prompt + output
	t.use.likely.Nano, _ = t.model.Price.CostNano(catalog.Tokens{Prompt: t.use.prompt, Completion: output})
}

// likelyPrompt estimates the tokens of a prompt: of the body's text four bytes a token, so much for an
// image and for a tool that the provider describes.
func likelyPrompt(bytes int64, content params.Content, builtIn int64) int64 {
	return tokensOf(bytes-content.Encoded, bytesPerToken) + content.Images*likelyImage + builtIn*likelyBuiltIn
}

// estimateMost bounds the output if the request does not. It refuses what has no upper bound.
func (g *charge) estimateMost(t *target, bytes int64, content params.Content) error {
	m := t.model
	switch most := m.MaxOutput; {
	case !t.generates():
	case t.output == 0:
		t.output, t.setOutput = policy.Lesser(policy.Lesser(most, t.caps.Output), defaultOutput), true
	case most > 0 && t.output > most: // the model never gives so much: it need not be reserved
		t.output, t.setOutput = most, true
	}
	input := bytes + content.Images*imageTokens + t.account.builtIn*builtInTokens
	unbounded := content.Unpriced
	if t.account.storedState {
		if input += m.ContextLength; m.ContextLength == 0 {
			unbounded = "stored state"
		}
	}
	unbounded = cmp.Or(unbounded, t.account.hostedTool, g.requested.Other)
	if unbounded != "" && !g.key.Unpriced {
		return g.unpriced("what %q will use cannot be known beforehand", unbounded)
	}
	if t.output > math.MaxInt32 {
		return apierror.New(apierror.InvalidValue, "%q is more than any model can give", g.requested.Param).WithParam(g.requested.Param)
	}
	prompt := policy.Lesser(input, m.ContextLength)
	switch {
	case !t.generates(): // each of its inputs may be that long
		prompt = input
	case content.LongWindow && !t.translated(): // a translation does not ask for it
		prompt = input
	}
	t.use.bound = catalog.Most{
		Prompt: prompt, Completion: (t.output+content.Thinking)*g.requested.Choices + content.Prediction,
		AudioInput: content.AudioInput, AudioOutput: content.AudioOutput,
	}
	// Charged if the client disconnects before usage arrives: images and stored state as reserved,
	// text at three bytes a token.
	t.use.prompt = min(t.use.bound.Prompt, input-bytes+tokensOf(bytes-content.Encoded, leastBytesPerToken))
	t.use.most.Tokens = t.use.bound.Prompt + t.use.bound.Completion
	t.use.most.Nano, t.use.priced = m.Price.MostNano(t.use.bound)
	if g.key.HardMoney() && !t.use.priced && !g.key.Unpriced {
		return g.unpriced("no price is known for the model %q", m.ID)
	}
	return nil
}

// unpriced is the refusal of a call whose price has no upper bound.
func (g *charge) unpriced(format string, args ...any) error {
	isHard := limits.Budget.Hard
	first := slices.IndexFunc(g.key.Subjects, func(s limits.Subject) bool { return slices.ContainsFunc(s.Budgets, isHard) })
	subject := &g.key.Subjects[first]
	budget := subject.Budgets[slices.IndexFunc(subject.Budgets, isHard)]
	e := apierror.New(apierror.CannotBePriced, format+", and the budget of %s is hard", append(args, subject.Name)...)
	e.LimitSource, e.RefusedBy = subject.Name, policy.RefusedBy(subject.Name, "budget", budget.String())
	return e
}

// tokensOf returns how many tokens text of so many bytes has, rounded up.
func tokensOf(bytes, perToken int64) int64 { return (max(0, bytes) + perToken - 1) / perToken }
