package runtimekeys

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"time"
)

const (
	nanoPerUSD = 1_000_000_000
	// mostUSD is the highest limit, in USD: the ledger counts nano-USD in an int64.
	mostUSD = 9_000_000_000
	// maxNumber bounds the text of a number, in bytes.
	maxNumber = 64
)

// parseUSD parses a JSON number of USD, in nano-USD. What is finer is rounded up, so that a limit
// never becomes 0 by rounding. Null is nil.
func parseUSD(value []byte) (*int64, error) {
	if string(value) == "null" {
		return nil, nil
	}
	bad := invalid("limit", "want a number of USD from 0 to %d, or null for none", int64(mostUSD))
	var number json.Number
	if len(value) > maxNumber || len(value) == 0 || value[0] == '"' || json.Unmarshal(value, &number) != nil {
		return nil, bad
	}
	usd, err := strconv.ParseFloat(number.String(), 64)
	if err != nil || usd > mostUSD {
		return nil, bad
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(number.String()), "e")
	zero := !strings.ContainsAny(mantissa, "123456789")
	nano := new(int64)
	switch {
	case zero:
	case usd < 0 || strings.HasPrefix(mantissa, "-"):
		return nil, bad
	case usd < 1.0/nanoPerUSD: // also an exponent too small for the exact way
		*nano = 1
	default:
		exact, ok := new(big.Rat).SetString(number.String())
		if !ok {
			return nil, bad
		}
		exact.Mul(exact, big.NewRat(nanoPerUSD, 1))
		whole, rest := new(big.Int).QuoRem(exact.Num(), exact.Denom(), new(big.Int))
		*nano = whole.Int64()
		if rest.Sign() > 0 {
			*nano++
		}
	}
	return nano, nil
}

// naive is how the Python SDK writes a time without zone; it means UTC.
const naive = "2006-01-02T15:04:05.999999999"

// parseExpiry parses expires_at: RFC 3339 in UTC, or without zone. Null is the zero time.
func parseExpiry(value []byte, now time.Time) (time.Time, error) {
	var text *string
	if json.Unmarshal(value, &text) != nil {
		return time.Time{}, invalid("expires_at", "want a time in UTC, such as 2027-01-31T18:00:00Z, or null")
	}
	if text == nil {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339Nano, *text)
	if err != nil {
		at, err = time.Parse(naive, *text)
	}
	_, offset := at.Zone()
	if err != nil || offset != 0 {
		return time.Time{}, invalid("expires_at", "want a time in UTC, such as 2027-01-31T18:00:00Z, or null")
	}
	if !now.Before(at) {
		return time.Time{}, invalid("expires_at", "%s is over", at.UTC().Format(time.RFC3339))
	}
	return at.UTC().Truncate(time.Millisecond), nil
}
