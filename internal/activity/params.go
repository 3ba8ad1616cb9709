package activity

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxParam bounds a query parameter, in bytes: no text of a record is longer.
const maxParam = maxText

// lastInstant is the last midnight that nanoseconds since 1970 can express.
var lastInstant = time.Date(2262, 4, 11, 0, 0, 0, 0, time.UTC)

// ParamError names an invalid query parameter and the reason.
type ParamError struct{ Param, Reason string }

func (e *ParamError) Error() string { return e.Param + " " + e.Reason }

// Unwrap makes errors.Is(err, ErrBadCursor) work in both cases.
func (e *ParamError) Unwrap() error {
	if e.Param == "cursor" {
		return ErrBadCursor
	}
	return nil
}

// Refused reports whether a query failed because of what it asks for.
func Refused(err error) bool {
	var param *ParamError
	return errors.As(err, &param) || errors.Is(err, ErrBadCursor) || errors.Is(err, ErrTooManyDays)
}

// parsers has a row for each parameter of GET /api/v1/activity, with those of textFilters. A
// parameter with a nil row is accepted and ignored: the OpenRouter SDKs have it, but we have no
// users or workspaces. Each returns what is wrong with the value, or "".
var parsers = map[string]func(*Filter, string) string{
	"request_id":     func(f *Filter, v string) string { f.RequestID = v; return "" },
	"api_key_hash":   parseKeyHash,
	"status":         parseStatus,
	"tenant":         func(f *Filter, v string) string { f.Tenant = v; return "" },
	"date":           parseDate,
	"from":           func(f *Filter, v string) string { return parseInstant(&f.From, v, false) },
	"to":             func(f *Filter, v string) string { return parseInstant(&f.To, v, true) },
	"limit":          parseLimit,
	"min_latency_ms": parseMinLatency,
	"cursor":         parseCursorParam,
	"group_by":       parseGroupBy,
	"user_id":        nil,
	"workspace_id":   nil,
}

func init() {
	for _, t := range textFilters {
		parsers[t.name] = func(f *Filter, v string) string { *t.want(f) = v; return "" }
	}
}

// Params are the names of the parameters of GET /api/v1/activity, sorted.
func Params() []string { return slices.Sorted(maps.Keys(parsers)) }

// ParseFilter parses the query parameters of the activity route. It ignores unknown ones. A known
// one that is empty, repeated, too long or malformed is a *ParamError. from and to are RFC 3339, a
// date or unix seconds; a date as to includes that day. group_by is day, or workspace, which means
// the same here. Tenant is the one that was asked for: the caller must set whose records may be seen.
func ParseFilter(q url.Values) (Filter, error) {
	var f Filter
	if err := parseParams(q, parsers, &f); err != nil {
		return Filter{}, err
	}
	if !f.From.IsZero() && !f.To.IsZero() && f.To.Before(f.From) {
		return Filter{}, &ParamError{"to", "must not be before from"}
	}
	return f, nil
}

// parseParams sets what the parameters say, and ignores unknown ones.
func parseParams[T any](q url.Values, parsers map[string]func(*T, string) string, dst *T) error {
	for param, parse := range parsers {
		values := q[param]
		if parse == nil || len(values) == 0 {
			continue
		}
		reason := ""
		switch v := values[0]; {
		case len(values) > 1:
			reason = "must be given once"
		case v == "":
			reason = "must not be empty"
		case len(v) > maxParam:
			reason = fmt.Sprintf("must not be longer than %d bytes", maxParam)
		default:
			reason = parse(dst, v)
		}
		if reason != "" {
			return &ParamError{param, reason}
		}
	}
	return nil
}

func parseKeyHash(f *Filter, v string) string {
	if raw, err := hex.DecodeString(v); err != nil || len(raw) != 32 {
		return "must be a SHA-256 of 64 hexadecimal digits"
	}
	f.KeyHash = strings.ToLower(v)
	return ""
}

func parseStatus(f *Filter, v string) string {
	n, err := strconv.Atoi(v)
	if err != nil || n < 100 || n > 599 {
		return "must be an HTTP status"
	}
	f.Status = n
	return ""
}

// maxLatency bounds min_latency_ms: a year.
const maxLatency = 365 * 24 * time.Hour

func parseMinLatency(f *Filter, v string) string {
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < 0 || n > maxLatency.Milliseconds() {
		return fmt.Sprintf("must be a number of milliseconds from 0 to %d", maxLatency.Milliseconds())
	}
	f.MinLatency = time.Duration(n) * time.Millisecond
	return ""
}

func parseDate(f *Filter, v string) string {
	if _, ok := day(v); !ok {
		return "must be a date as YYYY-MM-DD"
	}
	f.Date = v
	return ""
}

func parseLimit(f *Filter, v string) string {
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > MaxLimit {
		return fmt.Sprintf("must be a number from 1 to %d", MaxLimit)
	}
	f.Limit = n
	return ""
}

func parseCursorParam(f *Filter, v string) string {
	if _, err := parseCursor(v); err != nil {
		return "must be the next_cursor of an earlier answer"
	}
	f.Cursor = v
	return ""
}

func parseGroupBy(f *Filter, v string) string {
	if v != "day" && v != "workspace" {
		return "must be day or workspace"
	}
	f.Daily = true
	return ""
}

func parseInstant(t *time.Time, v string, end bool) string {
	if d, ok := day(v); ok {
		if end {
			d = d.AddDate(0, 0, 1)
		}
		*t = d
		return ""
	}
	if n, err := strconv.ParseInt(v, 10, 64); err == nil && n >= 0 && n <= lastInstant.Unix() {
		*t = time.Unix(n, 0).UTC()
		return ""
	}
	if at, err := time.Parse(time.RFC3339Nano, v); err == nil && representable(at) {
		*t = at.UTC()
		return ""
	}
	return "must be an instant as RFC 3339, a date as YYYY-MM-DD, or unix seconds"
}

func day(v string) (time.Time, bool) {
	d, err := time.Parse(time.DateOnly, v)
	return d, err == nil && representable(d) && representable(d.AddDate(0, 0, 1))
}

// representable reports whether created_at can hold t, so that a bound never wraps round and widens
// the answer.
func representable(t time.Time) bool {
	return t.Unix() >= 0 && !t.After(lastInstant)
}
