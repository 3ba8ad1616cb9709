package activity

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// The default and the limit of Filter.Limit.
const (
	DefaultLimit = 100
	MaxLimit     = 1000
)

// Filter selects records. Zero fields do not restrict, except that Tenant or AllTenants is required.
type Filter struct {
	Tenant     string
	AllTenants bool
	RequestID  string
	// Date is one UTC day, YYYY-MM-DD.
	Date string
	// From is the first instant, To the first one after the last. Date, From and To all apply if
	// given together.
	From, To             time.Time
	Model, Provider, Key string
	KeyHash              string // SHA-256 in lower-case hex
	Status               int
	// Code is the code of a failure, AnyCode or UpstreamFailures.
	Code, Workstation string
	// Family is that of the records: "mcp" selects the calls of tools.
	Family string
	// TraceID selects the calls of a run: 32 hexadecimal digits.
	TraceID string
	// EndUser and App are what callers say of themselves.
	EndUser, App string
	// MinLatency is the least Latency.
	MinLatency time.Duration
	// Limit is 1 to MaxLimit; 0 means DefaultLimit.
	Limit int
	// Cursor is Page.Next of the previous page.
	Cursor string
	// Daily reports that the caller asked for daily rows, see Log.Daily. Query ignores it.
	Daily bool
}

// textFilters are those that select by a text of the records. A new one is a field and a row.
var textFilters = []struct {
	name string // of its parameter
	want func(*Filter) *string
	of   func(*Record) string
}{
	{"model", func(f *Filter) *string { return &f.Model }, func(r *Record) string { return r.Model }},
	{"provider", func(f *Filter) *string { return &f.Provider }, func(r *Record) string { return r.Provider }},
	{"key", func(f *Filter) *string { return &f.Key }, func(r *Record) string { return r.Key }},
	{codeFilter, func(f *Filter) *string { return &f.Code }, func(r *Record) string { return r.Code }},
	{"workstation", func(f *Filter) *string { return &f.Workstation }, func(r *Record) string { return r.Workstation }},
	{"family", func(f *Filter) *string { return &f.Family }, func(r *Record) string { return r.Family }},
	{"trace_id", func(f *Filter) *string { return &f.TraceID }, func(r *Record) string { return r.TraceID }},
	{"end_user", func(f *Filter) *string { return &f.EndUser }, func(r *Record) string { return r.EndUser }},
	{"app", func(f *Filter) *string { return &f.App }, func(r *Record) string { return r.App }},
}

// codeFilter is the filter that takes AnyCode and UpstreamFailures.
const codeFilter = "code"

// As the Code of a query, AnyCode selects all calls that were refused or failed, and
// UpstreamFailures those that failed at a provider or an MCP server.
const (
	AnyCode          = "*"
	UpstreamFailures = "upstream"
)

// codeMatches reports whether a call has the code that a query asks for.
func codeMatches(want, is string) bool {
	switch want {
	case "", is:
		return true
	case AnyCode:
		return is != ""
	case UpstreamFailures:
		return slices.Contains(apierror.UpstreamFailures, apierror.Code(is))
	}
	return false
}

// selectsCodes reports whether the Code of a query selects more than one code.
func selectsCodes(code string) bool { return code == AnyCode || code == UpstreamFailures }

// codeCondition is codeMatches in SQL, for a Code that selects more than one.
func codeCondition(code string) string {
	if code == AnyCode {
		return "code <> ''"
	}
	var names []string
	for _, c := range apierror.UpstreamFailures {
		names = append(names, "'"+string(c)+"'")
	}
	return "code IN (" + strings.Join(names, ", ") + ")"
}

// check also checks filters made without ParseFilter, and prepares f for a query.
func (f *Filter) check() error {
	if f.Tenant == "" && !f.AllTenants {
		return &ParamError{"tenant", "must be set"}
	}
	if f.Limit < 0 || f.Limit > MaxLimit {
		return &ParamError{"limit", fmt.Sprintf("must be a number from 1 to %d", MaxLimit)}
	}
	if _, ok := day(f.Date); f.Date != "" && !ok {
		return &ParamError{"date", "must be a date as YYYY-MM-DD"}
	}
	for param, t := range map[string]time.Time{"from": f.From, "to": f.To} {
		if !t.IsZero() && !representable(t) {
			return &ParamError{param, "must be between 1970 and 2262"}
		}
	}
	f.RequestID, f.KeyHash = clip(f.RequestID), clip(f.KeyHash)
	for _, t := range textFilters {
		*t.want(f) = clip(*t.want(f))
	}
	if f.Cursor == "" {
		return nil
	}
	_, err := parseCursor(f.Cursor)
	return err
}

// After is the position that Cursor names, the zero value for none.
func (f *Filter) After() Cursor {
	at, _ := parseCursor(f.Cursor) // it was checked
	return at
}

// StatusBytes are the bytes of the status in the data of a row: the number behind its first two
// bytes (see Encode).
func (f *Filter) StatusBytes() []byte { return binary.AppendVarint(nil, int64(f.Status)) }

// Parts are what the data of each row has that f selects. Other rows may have it too: matches
// judges them. A row that SQL leaves out costs a tenth of one that is read.
func (f *Filter) Parts() (all [][]byte) {
	for _, t := range textFilters {
		if text := *t.want(f); text != "" && (t.name != codeFilter || !selectsCodes(text)) {
			all = append(all, appendText(nil, text))
		}
	}
	if hash, ok := packHex(f.KeyHash); ok {
		all = append(all, hash[:])
	}
	return all
}

// Span returns the range that Date, From and To allow together, in nanoseconds since 1970: from the
// first to before the second.
func (f *Filter) Span() (from, to int64) {
	from, to = 0, math.MaxInt64
	if f.Date != "" {
		d, _ := day(f.Date)
		from, to = d.UnixNano(), d.AddDate(0, 0, 1).UnixNano()
	}
	if !f.From.IsZero() {
		from = max(from, f.From.UnixNano())
	}
	if !f.To.IsZero() {
		to = min(to, f.To.UnixNano())
	}
	return from, to
}

// Matches checks what SQL does not. check has clipped the texts as Append clips those of records.
func (f *Filter) Matches(r *Record) bool {
	for _, t := range textFilters {
		want := *t.want(f)
		if want != "" && want != t.of(r) && (t.name != codeFilter || !codeMatches(want, r.Code)) {
			return false
		}
	}
	return (f.KeyHash == "" || f.KeyHash == r.KeyHash) && (f.Status == 0 || f.Status == r.Status) && r.Latency >= f.MinLatency
}
