package catalog

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Rate is a price in nano-USD per million tokens, which are units of 1e-15 USD per token. The
// largest is about 9,200 USD per token. Public prices fit exactly, except those computed in
// floating point (0.0000006000000000000001, 0.25/3): see ParseRate.
type Rate int64

// maxNumberBytes bounds the text of a number; the longest in the public catalogs has 25 bytes.
const maxNumberBytes = 64

// maxExponent keeps the arithmetic on exponents far from overflow; no price needs three digits
// there.
const maxExponent = 999

const (
	perToken   = 15 // decimal places of a Rate in USD per token
	perMillion = 9  // decimal places of a Rate in USD per million tokens
)

var (
	errNegative = errors.New("negative price")
	errNumber   = errors.New("not a decimal number")
	errRange    = errors.New("number out of range")
)

// ParseRate parses USD per token from a decimal text or a JSON number ("0.00000015", "1.5e-07"),
// without binary fractions. Digits beyond 1e-15 USD are rounded to the nearest unit, at most 0.5
// nano-USD in a million tokens. That also removes the noise of floating point. A rate that is not
// zero never becomes zero. Negative numbers, and anything but digits, one point and an exponent,
// are errors.
func ParseRate(text string) (Rate, error) {
	rate, _, err := parseRate(text, perToken)
	return rate, err
}

// parseRate returns text times 10^places, and reports whether that is an integer.
func parseRate(text string, places int) (rate Rate, exact bool, err error) {
	if len(text) > maxNumberBytes {
		return 0, false, fmt.Errorf("number has %d bytes, more than %d", len(text), maxNumberBytes)
	}
	unsigned, negative := strings.CutPrefix(text, "-")
	mantissa, exponent := unsigned, 0
	if at := strings.IndexAny(unsigned, "eE"); at >= 0 {
		mantissa = unsigned[:at]
		exponent, err = strconv.Atoi(unsigned[at+1:])
		if errors.Is(err, strconv.ErrRange) || exponent < -maxExponent || exponent > maxExponent {
			return 0, false, fmt.Errorf("%q: %w", text, errRange)
		}
		if err != nil {
			return 0, false, fmt.Errorf("%q: %w", text, errNumber)
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false, fmt.Errorf("%q: %w", text, errNumber)
	}
	digits = strings.TrimLeft(digits, "0")
	if digits == "" {
		return 0, true, nil
	}
	if negative {
		return 0, false, fmt.Errorf("%q: %w", text, errNegative)
	}
	units, exact, ok := shift(digits, exponent-len(fraction)+places)
	if !ok {
		return 0, false, fmt.Errorf("%q: %w", text, errRange)
	}
	return Rate(units), exact, nil
}

// shift returns digits, which begin with a non-zero one, times 10^places as an integer, rounded
// half up but not to zero.
func shift(digits string, places int) (units int64, exact, ok bool) {
	const most = 19 // digits of the largest int64
	if len(digits)+places > most {
		return 0, false, false
	}
	if places >= 0 {
		units, err := strconv.ParseInt(digits+strings.Repeat("0", places), 10, 64)
		return units, true, err == nil
	}
	keep := len(digits) + places
	if keep < 0 {
		return 1, false, true
	}
	if keep > 0 {
		var err error
		if units, err = strconv.ParseInt(digits[:keep], 10, 64); err != nil {
			return 0, false, false
		}
	}
	if digits[keep] >= '5' && units < math.MaxInt64 {
		units++
	}
	return max(units, 1), strings.Trim(digits[keep:], "0") == "", true
}

// String returns the rate as USD per token, a decimal without exponent ("0.00000015"), the form
// that the OpenRouter SDKs read in model lists.
func (r Rate) String() string { return r.decimal(perToken) }

// PerMillion returns the rate as USD per million tokens, as String writes it ("0.15").
func (r Rate) PerMillion() string { return r.decimal(perMillion) }

func (r Rate) decimal(places int) string {
	digits := fmt.Sprintf("%0*d", places+1, int64(r))
	point := len(digits) - places
	return strings.TrimRight(strings.TrimRight(digits[:point]+"."+digits[point:], "0"), ".")
}

// ParseUSD parses an amount of USD from a decimal text or a JSON number as nano-USD, rounded up.
func ParseUSD(text string) (nano int64, err error) {
	const perNano = 1_000_000
	units, err := ParseRate(text) // of 1e-15 USD
	if nano = int64(units) / perNano; int64(units)%perNano > 0 {
		nano++
	}
	return nano, err
}
