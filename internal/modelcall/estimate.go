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
	"github.com/gatehouse-proxy/gatehouse/internal/sound"
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

	// likelyOutput is the estimate for soft budgets and token rates.
	likelyOutput = 1_024

	// leastBytesPerToken is for text that is charged: some languages have three bytes a token.
	leastBytesPerToken = 3
)

// estimateUse finds what the call will likely use at a target and, under a hard budget, the most that
// it can use there.
func (g *charge) estimateUse(t *target, bytes int64, content params.Content) error {
	bytes += content.Again
	g.estimateLikely(t, bytes, content)
	if !g.key.Hard() {
		return nil
	}
	return g.estimateMost(t, bytes, content)
}

func (g *charge) estimateLikely(t *target, bytes int64, content params.Content) {
	output := int64(likelyOutput)
	if t.allowed.output > 0 {
		output = min(output, t.allowed.output+content.Thinking)
	}
	t.allowed.use.prompt = content.LikelyTokens(bytes, t.allowed.account.builtIn)
	made := t.made(&g.requested).Heard(g.requested.Heard)
	if output *= g.requested.Choices; !t.op.Generates {
		output = made.Output()
	}
	prompt := t.allowed.use.prompt + made.Prompt
	t.allowed.use.likely.Tokens = prompt + output
	t.allowed.use.likely.Nano, _ = t.price(&g.requested).CostNano(catalog.Tokens{Prompt: prompt, Completion: output, Units: made.Units.Max(g.requested.Used())})
}

// usualOutput is the limit of an answer, in tokens, of which neither the request nor anything else
// says how long it may be.
func usualOutput(m *catalog.Model, caps policy.Caps) int64 {
	return policy.Lesser(policy.Lesser(m.MaxOutput, caps.Output), defaultOutput)
}

// estimateMost bounds the output if the request does not. It refuses what has no upper bound.
func (g *charge) estimateMost(t *target, bytes int64, content params.Content) error {
	m, unbounded := t.model, content.Unpriced
	switch most := m.MaxOutput; {
	case !t.op.Generates:
	case t.allowed.output == 0 && (t.op.Compacts || content.Compacts):
		if t.allowed.output, t.allowed.setOutput = most, !t.op.Compacts; most == 0 {
			unbounded, t.allowed.setOutput = "compaction", false
		}
	case t.allowed.output == 0:
		t.allowed.output, t.allowed.setOutput = usualOutput(m, t.allowed.caps), true
	case most > 0 && t.allowed.output > most: // the model never gives so much: it need not be reserved
		t.allowed.output, t.allowed.setOutput = most, true
	}
	text := bytes - content.Sounds.Bytes
	input := text + content.Images*m.InputPicture(imageTokens) + content.Sounds.Tokens() + t.allowed.account.builtIn*builtInTokens
	if t.allowed.account.storedState {
		if input += m.ContextLength; m.ContextLength == 0 {
			unbounded = "stored state"
		}
	}
	unbounded = cmp.Or(unbounded, t.allowed.account.hostedTool, g.requested.Other)
	if unbounded != "" && !g.key.Unpriced {
		return g.unpriced("what %q will use cannot be known beforehand", unbounded)
	}
	if (content.Sounds.Unbounded || g.requested.Unbounded) && !g.key.Unpriced {
		return g.unpriced("how long the sound is cannot be read; it can of %s, each under its own name", sound.Readable)
	}
	made := t.made(&g.requested)
	if made.Guess && !g.key.Unpriced {
		return g.unpriced("how much an answer of the model %q uses is not known (see max_units in the catalog)", m.ID)
	}
	if t.allowed.output > math.MaxInt32 {
		return apierror.New(apierror.InvalidValue, "%q is more than any model can give", g.requested.Param).WithParam(g.requested.Param)
	}
	prompt := policy.Lesser(input, m.ContextLength)
	switch {
	case t.op.Made != nil: // its pictures are counted
		prompt = input - content.Encoded + made.Prompt
	case !t.op.Generates: // each of its inputs may be that long
		prompt = input
	case content.LongWindow && !t.route.Translated: // a translation does not ask for it
		prompt = input
	}
	prompt *= t.route.Requests(t.provider, t.allowed.output)
	t.allowed.use.bound = catalog.Most{
		Prompt: prompt, Completion: (t.allowed.output+content.Thinking)*g.requested.Choices + content.Prediction + made.Output(),
		Units: g.requested.Units.Max(content.Units).Max(made.Units),
	}
	// Charged if the client disconnects before usage arrives: images, sounds and stored state as
	// reserved, text at three bytes a token.
	t.allowed.use.prompt = min(t.allowed.use.bound.Prompt, input-text+params.Tokens(text-content.Encoded, leastBytesPerToken))
	t.allowed.use.most.Tokens = t.allowed.use.bound.Prompt + t.allowed.use.bound.Completion
	t.allowed.use.most.Nano, t.allowed.use.priced = t.price(&g.requested).MostNano(t.allowed.use.bound)
	if g.key.HardMoney() && !t.allowed.use.priced && !g.key.Unpriced {
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
