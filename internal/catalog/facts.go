package catalog

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

const (
	// maxElements bounds one list of words or tiers. The longest list in the public files, of
	// parameters, has 30.
	maxElements = 200
	// maxTextBytes bounds one such word.
	maxTextBytes = 64
)

// facts are the members of a record in a public format. Its methods are tolerant: a member that is
// absent, null or of another type is unknown.
type facts map[string]json.RawMessage

// record returns the facts of an object, nil for any other value.
func record(value json.RawMessage) facts {
	if kind(value) != '{' {
		return nil
	}
	list, err := members(value, maxMembers)
	if err != nil {
		return nil
	}
	f := make(facts, len(list))
	for _, m := range list {
		f[m.key] = m.value
	}
	return f
}

func (f facts) object(key string) facts { return record(f[key]) }

// text returns a text, empty when unknown.
func (f facts) text(key string) string {
	var s string
	if kind(f[key]) != '"' || json.Unmarshal(f[key], &s) != nil {
		return ""
	}
	return s
}

// flag reports whether the member is true.
func (f facts) flag(key string) bool { return string(f[key]) == "true" }

// list returns the elements of an array; ok is false if the member is unknown.
func (f facts) list(key string) (list []json.RawMessage, ok bool) {
	if kind(f[key]) != '[' {
		return nil, false
	}
	list, err := elements(f[key], maxElements)
	return list, err == nil
}

// texts returns a list of words, nil if unknown. Elements that are not words are left out.
func (f facts) texts(key string) []string {
	list, ok := f.list(key)
	if !ok {
		return nil
	}
	words := make([]string, 0, len(list))
	for _, value := range list {
		var word string
		if kind(value) == '"' && json.Unmarshal(value, &word) == nil && word != "" && len(word) <= maxTextBytes {
			words = append(words, word)
		}
	}
	return slices.Clip(words)
}

// count returns the first of the keys with a whole number above zero (also written 1e6, 2000000.0
// or "8192"), 0 if there is none.
func (f facts) count(keys ...string) int64 {
	for _, key := range keys {
		n, exact, err := parseRate(strings.Trim(string(f[key]), `"`), 0)
		if err == nil && exact && n > 0 {
			return int64(n)
		}
	}
	return 0
}

// quote returns a price in USD per token. A text that is not a number is unknown. A number that
// cannot be a price is an error.
func (f facts) quote(key string) (Quote, error) {
	text := string(f[key])
	quoted := kind(f[key]) == '"'
	if quoted {
		text = f.text(key)
	} else if !isNumber(f[key]) {
		return Quote{}, nil
	}
	rate, err := ParseRate(text)
	switch {
	case err == nil:
		return Quoted(rate), nil
	case quoted && !errors.Is(err, errNegative) && !errors.Is(err, errRange):
		return Quote{}, nil
	}
	return Quote{}, err
}

// column names the member that holds one of a record's rates.
type column struct {
	key   string
	quote *Quote
}

// read fills the quotes from the facts.
func (f facts) read(columns ...column) error {
	var errs []error
	for _, c := range columns {
		var err error
		if *c.quote, err = f.quote(c.key); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", c.key, err))
		}
	}
	return errors.Join(errs...)
}

// readFee reads a fee for each request. Zero is none.
func (f facts) readFee(key string, r *Rates) error {
	err := f.read(column{key, &r.Request})
	r.Request.dropZero()
	return err
}

// pricedApart reports whether pictures or films in an answer are billed at their own rate, higher
// than that of text, and a usage does not say which tokens they were. Lists state such rates even for
// models that only answer in text.
func pricedApart(f facts, outputs []string, text Quote, keys ...string) (bool, error) {
	for _, key := range keys {
		q, err := f.quote(key)
		if err != nil {
			return false, fmt.Errorf("%s: %w", key, err)
		}
		if q.Rate > text.Rate && !slices.Equal(outputs, textOnly) {
			return true, nil
		}
	}
	return false, nil
}

// newPrice completes a price of a public format. It returns nil without rates. Beside a price that is
// not zero, the public files write zero for "no separate rate" (for cache writes, say); newPrice takes
// that as unknown. A model whose rates are all zero is free.
func newPrice(base Rates, tiers []Tier) *Price {
	if !base.Prompt.Known && !base.Completion.Known && base.Units == (UnitRates{}) && !base.Request.Known {
		return nil
	}
	base.freeTokens()
	if base.Prompt.Rate > 0 || base.Completion.Rate > 0 {
		base.dropZeroes()
		for i := range tiers {
			tiers[i].dropZeroes()
		}
	}
	slices.SortFunc(tiers, func(a, b Tier) int { return cmp.Compare(a.From, b.From) })
	return &Price{Rates: base, Tiers: tiers}
}

// freeTokens makes the tokens of a model free that is paid by units which are no tokens, or by the call,
// if nothing else is said. Text costs what pictures cost if only these have a rate.
func (r *Rates) freeTokens() {
	r.Prompt, r.Completion = r.Prompt.or(r.Units[units.ImageInput]), r.Completion.or(r.Units[units.ImageOutput])
	if !r.Prompt.Known && !r.Completion.Known && r.Units.known(true) {
		return
	}
	if r.Units.known(false) || r.Request.Known {
		r.Prompt, r.Completion = r.Prompt.or(Quoted(0)), r.Completion.or(Quoted(0))
	}
}

func (r *Rates) dropZeroes() {
	for _, q := range []*Quote{&r.CacheRead, &r.CacheWrite, &r.CacheHour, &r.Reasoning} {
		q.dropZero()
	}
	for i := range r.Units {
		if unitTable[i].part != ofNeither {
			r.Units[i].dropZero()
		}
	}
}

func (q *Quote) dropZero() {
	if q.Rate == 0 {
		*q = Quote{}
	}
}
