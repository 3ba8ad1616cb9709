package report

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// The default and the most rows of a page of limits. A gateway can have a hundred thousand keys with
// a budget each.
const (
	defaultLimits = 100
	maxLimits     = 1000
)

// limitsFilter selects limits. Zero fields do not restrict.
type limitsFilter struct {
	tenant, subject, kind string
	minUsed               float64
	limit                 int
	after                 limitsCursor
}

// wants reports whether the filter lets a row through. Of a row whose use is hidden it knows no more
// than the caller.
func (f *limitsFilter) wants(kind string, ratio float64, exhausted bool) bool {
	return (f.kind == "" || f.kind == kind) && (f.minUsed <= 0 || ratio >= f.minUsed || exhausted)
}

// limitsParsers has a row for each parameter of [Limits]. Each returns what is wrong with the value,
// or "".
var limitsParsers = map[string]func(*limitsFilter, string) string{
	"tenant":  func(f *limitsFilter, v string) string { f.tenant = v; return "" },
	"subject": func(f *limitsFilter, v string) string { f.subject = v; return "" },
	"type": func(f *limitsFilter, v string) string {
		if f.kind = v; !slices.Contains([]string{typeBudget, typeRate, typeConcurrency}, v) {
			return "must be budget, rate or concurrency"
		}
		return ""
	},
	"min_used": func(f *limitsFilter, v string) (wrong string) {
		var err error
		if f.minUsed, err = strconv.ParseFloat(v, 64); err != nil || !(f.minUsed >= 0 && f.minUsed <= 1) {
			return "must be a share from 0 to 1, such as 0.8"
		}
		return ""
	},
	"limit": func(f *limitsFilter, v string) string {
		var err error
		if f.limit, err = strconv.Atoi(v); err != nil || f.limit < 1 || f.limit > maxLimits {
			return fmt.Sprintf("must be a number from 1 to %d", maxLimits)
		}
		return ""
	},
	"cursor": func(f *limitsFilter, v string) string {
		var ok bool
		if f.after, ok = parseLimitsCursor(v); !ok {
			return "must be the next_cursor of an earlier answer"
		}
		return ""
	},
}

// LimitsParams are the parameters of [Limits].
func LimitsParams() []string {
	return []string{"cursor", "limit", "min_used", "subject", "tenant", "type"}
}

// maxLimitsParam bounds a parameter, in bytes: a cursor with the longest name of a subject.
const maxLimitsParam = 2 * limits.MaxName

func parseLimitsFilter(q url.Values) (limitsFilter, error) {
	f := limitsFilter{limit: defaultLimits}
	for _, name := range LimitsParams() {
		values := q[name]
		if len(values) == 0 {
			continue
		}
		wrong := ""
		switch v := values[0]; {
		case len(values) > 1:
			wrong = "must be given once"
		case v == "":
			wrong = "must not be empty"
		case len(v) > maxLimitsParam:
			wrong = fmt.Sprintf("must not be longer than %d bytes", maxLimitsParam)
		default:
			wrong = limitsParsers[name](&f, v)
		}
		if wrong != "" {
			return f, apierror.New(apierror.InvalidValue, "%s: %s", name, wrong).WithParam(name)
		}
	}
	return f, nil
}

// limitsCursor is the first row of a page: the subject, and how many of its rows earlier pages had.
// Its text is URL-safe base64 of the number, a space and the name. It gives no rights: each page shows
// what its caller may see.
type limitsCursor struct {
	subject string
	rows    int
}

func (c limitsCursor) String() string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.Itoa(c.rows) + " " + c.subject))
}

func parseLimitsCursor(text string) (c limitsCursor, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return c, false
	}
	rows, subject, ok := strings.Cut(string(raw), " ")
	if c.rows, err = strconv.Atoi(rows); err != nil || c.rows < 0 || subject == "" {
		return c, false
	}
	c.subject = subject
	return c, ok
}
