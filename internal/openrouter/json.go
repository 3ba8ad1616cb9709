package openrouter

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
)

// appendJSON appends a value of this package's types, for which encoding/json cannot fail.
func appendJSON(dst []byte, v any) []byte {
	buffer := bytes.NewBuffer(dst)
	encoder := json.NewEncoder(buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))
}

// USD is an amount in nano-USD. Its JSON is the exact decimal number of USD.
type USD int64

// MarshalJSON implements json.Marshaler.
func (u USD) MarshalJSON() ([]byte, error) { return AppendUSD(nil, int64(u)), nil }

// nanoPerUSD is the unit of money in the gateway.
const nanoPerUSD = 1_000_000_000

// AppendUSD appends an amount of nano-USD as a decimal number of USD, such as 0.000012; there are
// no trailing zeros and no exponent.
func AppendUSD(dst []byte, nano int64) []byte {
	abs := uint64(nano)
	if nano < 0 {
		dst = append(dst, '-')
		abs = -abs
	}
	dst = strconv.AppendUint(dst, abs/nanoPerUSD, 10)
	fraction := abs % nanoPerUSD
	if fraction == 0 {
		return dst
	}
	text := strconv.FormatUint(nanoPerUSD+fraction, 10)[1:]
	end := len(text)
	for text[end-1] == '0' {
		end--
	}
	dst = append(dst, '.')
	return append(dst, text[:end]...)
}

// Date is the UTC day of a time, as "2026-01-31".
type Date time.Time

// MarshalJSON implements json.Marshaler.
func (d Date) MarshalJSON() ([]byte, error) {
	return time.Time(d).UTC().AppendFormat(nil, `"2006-01-02"`), nil
}

// Timestamp is RFC 3339 in UTC with milliseconds; the zero time is null.
type Timestamp time.Time

// MarshalJSON implements json.Marshaler.
func (t Timestamp) MarshalJSON() ([]byte, error) {
	if time.Time(t).IsZero() {
		return null{}.MarshalJSON()
	}
	return time.Time(t).UTC().AppendFormat(nil, `"2006-01-02T15:04:05.000Z07:00"`), nil
}

// Milliseconds is a duration in whole milliseconds; zero or less is null.
type Milliseconds time.Duration

// MarshalJSON implements json.Marshaler.
func (m Milliseconds) MarshalJSON() ([]byte, error) {
	if m <= 0 {
		return null{}.MarshalJSON()
	}
	return strconv.AppendInt(nil, time.Duration(m).Milliseconds(), 10), nil
}

// FractionMilliseconds is a duration in milliseconds, with microseconds as decimals.
type FractionMilliseconds time.Duration

// MarshalJSON implements json.Marshaler.
func (m FractionMilliseconds) MarshalJSON() ([]byte, error) { return m.AppendText(nil) }

// AppendText implements encoding.TextAppender: the number, such as 0.25, without trailing zeros.
func (m FractionMilliseconds) AppendText(dst []byte) ([]byte, error) {
	micros := time.Duration(m).Microseconds()
	return strconv.AppendFloat(dst, float64(micros)/1000, 'f', -1, 64), nil
}

// Text is a string; "" is null.
type Text string

// MarshalJSON implements json.Marshaler.
func (t Text) MarshalJSON() ([]byte, error) {
	if t == "" {
		return null{}.MarshalJSON()
	}
	return appendJSON(nil, string(t)), nil
}

// Count is a whole number; 0 is null.
type Count int64

// MarshalJSON implements json.Marshaler.
func (c Count) MarshalJSON() ([]byte, error) {
	if c == 0 {
		return null{}.MarshalJSON()
	}
	return strconv.AppendInt(nil, int64(c), 10), nil
}

// null is a member that the SDKs require and this gateway does not know.
type null struct{}

// MarshalJSON implements json.Marshaler.
func (null) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// JSONShape is nil: it is null.
func (null) JSONShape() any { return nil }
