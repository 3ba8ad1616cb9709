package failover

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// Routing is what a request says of its targets, beside the model. The zero value says nothing.
type Routing struct {
	Models []string // further models, asked in turn after that of the request

	// Order, Only and Ignore name providers, or endpoints as "provider/endpoint", in lower case.
	Order, Only, Ignore []string

	NoFallbacks bool // only the first target of each model, or those of Order
	ByPrice     bool // the cheapest first
	AllByPrice  bool // the cheapest of all models first

	// MaxPrompt and MaxCompletion are the highest prices, in nano-USD per million tokens; nil for any.
	MaxPrompt, MaxCompletion *int64

	// RouterOnly names what only a target of dialect openrouter can honour ("provider.zdr").
	RouterOnly []string
	// Forward is the JSON object `provider` for these targets: RouterOnly and the highest prices. nil
	// is none.
	Forward []byte

	// Refusal is set if the routing fields are wrong or not supported. A plain model of dialect
	// openrouter ignores it: its provider gets the fields as they came.
	Refusal error
}

// Option is what [Apply] has to know of a target.
type Option struct {
	Provider, Endpoint string // Endpoint is "" for the only one
	OpenRouter         bool   // the dialect
	Priced             bool
	Prompt, Completion int64 // in nano-USD per million tokens
}

// Routed are the targets of a call in groups, for [Health.Order].
type Routed[T any] struct {
	Groups [][]T
	models []int // which model each group is of; all of AllByPrice are of one
	one    bool  // only the first target of each model
}

// Apply filters and sorts targets: for each model of the request its groups. None of the result's
// groups is empty. LeftOut gets each target that a field of the request leaves out. The refusals
// are 400: nothing is left, or Refusal.
func Apply[T any](r *Routing, models [][][]T, option func(T) Option, leftOut func(t T, field string)) (Routed[T], error) {
	routed := Routed[T]{one: r.NoFallbacks && len(r.Order) == 0}
	if r.Refusal != nil {
		return routed, r.Refusal
	}
	if r.AllByPrice {
		models = [][][]T{slices.Concat(models...)}
	}
	left := models
	for _, f := range r.filters() {
		keep := func(t T) bool {
			kept := f.keep(option(t))
			if !kept {
				leftOut(t, f.field)
			}
			return kept
		}
		if left = filter(left, keep); len(left) == 0 {
			return routed, apierror.New(apierror.InvalidValue, "%q leaves no provider that could serve the request", f.field).WithParam(f.field)
		}
	}
	for i, groups := range left {
		for _, g := range arrange(r, groups, option) {
			routed.Groups, routed.models = append(routed.Groups, g), append(routed.models, i)
		}
	}
	return routed, nil
}

// Limit returns the picks that may be tried: the first of each model if the request forbids
// fallbacks. Passed are those that would have been the first if they did not cool, and barred all
// others. It reuses the slice.
func (r *Routed[T]) Limit(picks []Pick) (allowed, passed, barred []Pick) {
	if !r.one {
		return picks, nil, nil
	}
	allowed = picks[:0]
	for _, p := range picks {
		switch first := slices.IndexFunc(allowed, func(q Pick) bool { return r.models[q.Group] == r.models[p.Group] }); {
		case first < 0:
			allowed = append(allowed, p)
		case p.Rank < allowed[first].Rank:
			passed = append(passed, p)
		default:
			barred = append(barred, p)
		}
	}
	return allowed, passed, barred
}

// condition is one that targets must meet.
type condition struct {
	field string
	keep  func(Option) bool
}

func (r *Routing) filters() (all []condition) {
	add := func(field string, keep func(Option) bool) { all = append(all, condition{field, keep}) }
	if len(r.Only) > 0 {
		add("provider.only", func(o Option) bool { return o.in(r.Only) })
	}
	if len(r.Ignore) > 0 {
		add("provider.ignore", func(o Option) bool { return !o.in(r.Ignore) })
	}
	if r.NoFallbacks && len(r.Order) > 0 {
		add("provider.order", func(o Option) bool { return o.in(r.Order) })
	}
	for _, field := range r.RouterOnly {
		add(field, func(o Option) bool { return o.OpenRouter })
	}
	// A router enforces the price itself: it can choose among upstreams.
	within := func(most *int64, price func(Option) int64) func(Option) bool {
		return func(o Option) bool { return o.OpenRouter || o.Priced && price(o) <= *most }
	}
	if r.MaxPrompt != nil {
		add("provider.max_price.prompt", within(r.MaxPrompt, func(o Option) int64 { return o.Prompt }))
	}
	if r.MaxCompletion != nil {
		add("provider.max_price.completion", within(r.MaxCompletion, func(o Option) int64 { return o.Completion }))
	}
	return all
}

func (o Option) in(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		of, endpoint, one := strings.Cut(name, "/")
		return of == o.Provider && (!one || endpoint == strings.ToLower(o.Endpoint))
	})
}

// price is what targets are sorted by; unknown prices come last.
func (o Option) price() float64 {
	if !o.Priced {
		return math.Inf(1)
	}
	return float64(o.Prompt) + float64(o.Completion)
}

// filter leaves out targets, and what is empty then.
func filter[T any](models [][][]T, keep func(T) bool) (left [][][]T) {
	for _, groups := range models {
		var some [][]T
		for _, g := range groups {
			var kept []T
			for _, t := range g {
				if keep(t) {
					kept = append(kept, t)
				}
			}
			if len(kept) > 0 {
				some = append(some, kept)
			}
		}
		if len(some) > 0 {
			left = append(left, some)
		}
	}
	return left
}

// arrange puts the targets of a model into the request's order: those of Order first, the others by
// price or in their own groups.
func arrange[T any](r *Routing, groups [][]T, option func(T) Option) (arranged [][]T) {
	rest := [][][]T{groups}
	for _, name := range r.Order {
		named := []string{name}
		first := filter(rest, func(t T) bool { return option(t).in(named) })
		if len(first) > 0 {
			arranged = append(arranged, slices.Concat(first[0]...))
		}
		rest = filter(rest, func(t T) bool { return !option(t).in(named) })
	}
	if len(rest) == 0 {
		return arranged
	}
	if !r.ByPrice && !r.AllByPrice {
		return append(arranged, rest[0]...)
	}
	sorted := slices.Concat(rest[0]...)
	slices.SortStableFunc(sorted, func(a, b T) int { return cmp.Compare(option(a).price(), option(b).price()) })
	for begin := 0; begin < len(sorted); {
		end := begin + 1
		for end < len(sorted) && option(sorted[end]).price() == option(sorted[begin]).price() {
			end++
		}
		arranged = append(arranged, sorted[begin:end])
		begin = end
	}
	return arranged
}
