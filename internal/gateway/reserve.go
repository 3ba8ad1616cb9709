package gateway

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/request"
)

const (
	// reserveTimeout bounds how long a call, with the places that it holds, waits
	// for its reservation to be on disk: a locked database, a disk that hangs.
	reserveTimeout = 2 * time.Second

	// defaultOutput is reserved for a choice, and asked for, where neither the
	// request nor the catalog nor a cap says how long it may be.
	defaultOutput = 16_384

	// imageTokens is more than a provider counts for one image: OpenAI's
	// dearest way of counting comes to 48,169 (gpt-4o-mini, eight tiles).
	imageTokens = 50_000

	// builtInTokens is more than a provider adds to the prompt for a tool that it
	// describes itself (a shell, a computer). What providers document is below
	// 1,500 tokens; OpenAI says nothing of its own.
	builtInTokens = 4_096

	// The estimates, for soft budgets, rates of tokens and answers whose usage
	// is not known: English text has four bytes a token.
	bytesPerToken = 4
	likelyImage   = 1_000
	likelyBuiltIn = 500
	likelyOutput  = 1_024
)

// Reserve takes from token rates and budgets what the call may use. The
// state that the request refers to has been admitted.
func (c *Call) Reserve(ctx context.Context, b *jsonscan.Body) error {
	q := &c.quota
	rated := q.key != nil && q.key.rated
	for _, m := range q.models {
		for _, r := range m.Subject.Rates {
			rated = rated || r.Unit == limits.Tokens
		}
	}
	if !rated && (q.key == nil || !q.key.budgeted()) {
		return nil
	}
	content := request.ContentOf(b)
	q.estimate(&c.model, int64(len(b.Data())), content)
	if q.key != nil && q.key.hard() {
		if err := c.bound(int64(len(b.Data())), content); err != nil {
			return err
		}
	}
	if rated {
		if err := c.takeTokens(); err != nil {
			return err
		}
	}
	if q.key == nil || !q.key.budgeted() {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, reserveTimeout)
	defer cancel()
	hold, refused, err := limits.Reserve(bounded, c.gateway.ledger, limits.Reservation{
		Call: c.reservation(), At: c.begun, Most: q.most, Likely: q.likely, Subjects: q.key.Subjects, Durable: c.mustSurvive(),
	})
	switch {
	case err != nil:
		return c.ledgerFailure(ctx, err)
	case refused != nil:
		return c.budgetRefusal(refused)
	}
	q.hold = hold
	return nil
}

// estimate is what the call will likely use.
func (q *quota) estimate(m *catalog.Model, bytes int64, content request.Content) {
	output := int64(likelyOutput)
	if q.output > 0 {
		output = min(output, q.output+content.Thinking)
	}
	q.input = tokensOf(bytes-content.Encoded, bytesPerToken) + content.Images*likelyImage + q.builtIn*likelyBuiltIn
	output *= q.demand.Choices
	q.likely.Tokens = q.input + output
	q.likely.Nano, _ = m.Price.CostNano(catalog.Tokens{Prompt: q.input, Completion: output})
}

// tokensOf is how many tokens text of so many bytes has, rounded up.
func tokensOf(bytes, perToken int64) int64 { return (max(0, bytes) + perToken - 1) / perToken }

// bound finds the most that the call can use, and has the output bounded that
// the request leaves open.
func (c *Call) bound(bytes int64, content request.Content) error {
	q := &c.quota
	switch most := c.model.MaxOutput; {
	case q.output == 0:
		q.output, q.splice = lesser(lesser(most, q.caps.Output), defaultOutput), true
	case most > 0 && q.output > most: // asked for, and never given: it need not be reserved
		q.output, q.splice = most, true
	}
	input := bytes + content.Images*imageTokens + q.builtIn*builtInTokens
	what := content.Unpriced
	if c.keptState {
		if input += c.model.ContextLength; c.model.ContextLength == 0 {
			what = "stored state"
		}
	}
	if what == "" {
		what = c.hostedTool
	}
	if what != "" && !q.key.Unpriced {
		return c.unpriced("what %q will use cannot be known beforehand", what)
	}
	if q.output > math.MaxInt32 {
		return apierror.New(apierror.InvalidValue, "%q is more than any model can give", q.demand.Param).WithParam(q.demand.Param)
	}
	q.bound = catalog.Most{
		Prompt: lesser(input, c.model.ContextLength), Completion: (q.output+content.Thinking)*q.demand.Choices + content.Prediction,
		AudioInput: content.AudioInput, AudioOutput: content.AudioOutput,
	}
	// Who leaves before the usage is told pays this: images and state as
	// reserved, text as it is and not as it could be.
	q.input = min(q.bound.Prompt, input-bytes+tokensOf(bytes-content.Encoded, leastBytesPerToken))
	q.most.Tokens = q.bound.Prompt + q.bound.Completion
	q.most.Nano, q.priced = c.model.Price.MostNano(q.bound)
	if q.key.hardMoney && !q.priced && !q.key.Unpriced {
		return c.unpriced("no price is known for the model %q", c.asked)
	}
	return nil
}

func (c *Call) unpriced(format string, args ...any) error {
	hard := func(s limits.Subject) bool {
		return slices.ContainsFunc(s.Budgets, func(b limits.Budget) bool { return !b.Soft })
	}
	whose := c.quota.key.Subjects[slices.IndexFunc(c.quota.key.Subjects, hard)].Name
	e := apierror.New(apierror.CannotBePriced, format+", and the budget of %s is hard", append(args, whose)...)
	e.LimitSource = whose
	return e
}

func (c *Call) takeTokens() error {
	q := &c.quota
	var subjects []limits.Subject
	if q.key != nil {
		subjects = append(subjects, q.key.Subjects...)
	}
	for _, m := range q.models {
		subjects = append(subjects, m.Subject)
	}
	reading, grant, refused := c.gateway.rates.Tokens(q.likely.Tokens, subjects)
	if refused != nil {
		q.tokens = refused.Reading
		return rateRefusal(refused)
	}
	q.tokens, q.grant = reading, grant
	return nil
}

// reservation is the call's id at the ledger, which says whose it is should it
// be found after a crash: "<request>/<tenant>/<key>".
func (c *Call) reservation() string {
	return c.Record.RequestID + reservationMark + c.Credential.Tenant + reservationMark + c.Credential.Name
}

const reservationMark = "/"

// mustSurvive tells whether the reservation has to be on disk before the call
// goes on.
func (c *Call) mustSurvive() bool {
	switch c.gateway.limits.OnStoreFailure {
	case FailOpen:
		return false
	case FailClosed:
		return true
	}
	return c.quota.key.hardMoney
}

// ledgerFailure refuses a call, or lets it go on without a reservation, as the
// policy says. What the ledger refuses as invalid is a fault of the gateway and
// never lets a call go on: nobody would be charged for it.
func (c *Call) ledgerFailure(ctx context.Context, err error) error {
	if errors.Is(err, limits.ErrInvalid) {
		return err
	}
	if ctx.Err() != nil {
		return apierror.New(apierror.ClientGone, "the client left").WithCause(err)
	}
	if c.mustSurvive() {
		return apierror.New(apierror.LedgerUnavailable, "what this key has spent cannot be recorded now").WithCause(err)
	}
	c.gateway.sampled().Error("a call goes on without a reservation", zap.String("request_id", c.Record.RequestID), zap.Error(err))
	return nil
}

// Capped tells whether the provider has to be told a bound of the output.
func (c *Call) Capped() bool { return c.quota.splice }

// OutputCap is that bound, and the provider's field of that meaning ("" = the
// usual one).
func (c *Call) OutputCap() (d request.RequestedLimits, field string, n int64) {
	return c.quota.demand, c.limitField(), c.quota.output
}

// MaxPrice is the price for which a budget of money was reserved, in USD per
// million tokens, where the provider is a router that could choose a dearer
// upstream and has to be told.
func (c *Call) MaxPrice() (prompt, completion string, ok bool) {
	q := &c.quota
	if q.key == nil || !q.key.hardMoney || !q.priced || !c.provider.Dialect.OpenRouterFields() {
		return "", "", false
	}
	return c.model.Price.Prompt.Rate.PerMillion(), c.model.Price.Completion.Rate.PerMillion(), true
}

// limitField is the one name that the provider knows for the limit of a chat's
// output; "" = both, or what the request will be translated to has another.
func (c *Call) limitField() string {
	if c.chat {
		return c.provider.MaxTokensField
	}
	return ""
}
