package sqlite

import (
	"math"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

// maxMerged is from how many tenants on their rows are sorted, not merged in the order of an index.
// SQLite takes 500 parts of a query.
const maxMerged = 400

// rowsQuery is the query that SQL answers: the rows of a time of some tenants, newest first,
// without most of those that f does not select.
func rowsQuery(f *activity.Filter, tenants []string) (string, []any) {
	const order = " ORDER BY created_at DESC, seq DESC"
	cond, times := "", []any{}
	and := func(c string, v ...any) { cond += " AND " + c; times = append(times, v...) }
	from, to := f.Span()
	if from > 0 {
		and("created_at >= ?", from)
	}
	if to < math.MaxInt64 {
		and("created_at < ?", to)
	}
	if at := f.After(); at != (activity.Cursor{}) {
		and("(created_at, seq) < (?, ?)", at.Created, at.Seq)
	}
	if f.Status != 0 {
		and("substr(data, 3, 2) = ?", f.StatusBytes())
	}
	for _, part := range f.Parts() {
		and("instr(data, ?) > 0", part)
	}
	if len(tenants) > maxMerged {
		return "SELECT " + columns + " FROM activity WHERE true" + cond + order, times
	}
	part := "SELECT " + columns + " FROM activity WHERE tenant = ?" + cond
	var args []any
	for _, tenant := range tenants {
		args = append(append(args, tenant), times...)
	}
	return strings.Repeat(part+" UNION ALL ", len(tenants)-1) + part + order, args
}
