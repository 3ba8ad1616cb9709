package activity

import (
	"fmt"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// The views are for operators: docs/activity.md promises their names and columns. They are the same
// in both databases. They read the packed data of a row by SQL, so that they cost nothing until
// somebody asks. Columns instead would cost each call, and each series that reads many sums.

// Dialect is the SQL in which the views of the two databases differ. In it d is the row, at is the
// number of a byte of its data, from 1 on.
type Dialect struct {
	Each string // a subquery that is evaluated for each row
	All  string // its values, by their number
	Some string // whether the version of a row has units
	Byte string // the byte at
	Text string // the n bytes before at
	Name string // the column of a name
	Day  string // the time of a row of sums by the day, by the hour, and of a call
	Hour string
	Call string
}

// The columns of the views that are packed, in the order of the data.
const (
	sumColumns        = "requests unpriced prompt_tokens completion_tokens reasoning_tokens cached_tokens cost_nano"
	callNumberColumns = "status attempts latency_ns first_token_ns prompt_tokens completion_tokens reasoning_tokens cached_tokens cost_nano"
	callTextColumns   = "key model provider id request_id client_request_id upstream_id family route upstream_model code " +
		"finish_reason native_finish_reason usage_source"
)

// Views are the statements that make the views.
func (d Dialect) Views() string {
	var names []string
	for _, name := range strings.Fields("tenant key model provider code") {
		names = append(names, fmt.Sprintf(d.Name, name))
	}
	subject := strings.Join(names, ", ")
	return d.view("gatehouse_days", d.Day+" AS day, "+subject, "activity_days", 2, sumColumns, "") +
		d.view("gatehouse_hours", d.Hour+" AS hour, "+subject, "activity_hours", 2, sumColumns, "") +
		d.view("gatehouse_calls", d.Call+" AS created_at, d.created_at AS created_ns, "+names[0], "activity", 3, callNumberColumns, callTextColumns)
}

// view is a view of a table whose data has numbers, units and then texts, from a byte on. The data
// is walked byte by byte: every second row of walk has read one. A number, or the length of a text,
// ends with a byte below 128; n is it. A version without units leaves out their fields.
func (d Dialect) view(name, columns, table string, from int, numbers, texts string) string {
	packed := strings.Fields(numbers)
	count, all := len(packed), len(packed)+units.Number
	for i, column := range packed {
		columns += fmt.Sprintf(",\n\tCAST(v.value ->> '%d' AS bigint) AS %s", i, column)
	}
	for _, column := range strings.Fields(texts) {
		columns += fmt.Sprintf(",\n\tv.value ->> '%d' AS %s", all, column)
		all++
	}
	for u := range units.Unit(units.Number) {
		columns += fmt.Sprintf(",\n\tCAST(coalesce(v.value ->> '%d', '0') AS bigint) AS %s", count+int(u), u)
	}
	walk := fmt.Sprintf(`
	WITH RECURSIVE walk(at, field, part, shift, n, b) AS (
		SELECT %[1]d, 0, CAST(0 AS bigint), 0, CAST(NULL AS bigint), CAST(NULL AS int)
		UNION ALL
		SELECT
			CASE WHEN b IS NULL THEN at + 1 WHEN b < 128 AND field >= %[2]d THEN at + CAST(part | (CAST(b AS bigint) << shift) AS int) ELSE at END,
			CASE WHEN b < 128 THEN field + 1 WHEN b IS NULL AND field = %[6]d AND NOT %[7]s THEN %[2]d ELSE field END,
			CASE WHEN b IS NULL THEN part WHEN b < 128 THEN 0 ELSE part | (CAST(b & 127 AS bigint) << shift) END,
			CASE WHEN b IS NULL THEN shift WHEN b < 128 THEN 0 ELSE shift + 7 END,
			CASE WHEN b < 128 THEN part | (CAST(b AS bigint) << shift) END,
			CASE WHEN b IS NULL THEN %[3]s END
		FROM walk WHERE field < %[4]d AND (b IS NOT NULL OR at <= length(d.data))
	)
	SELECT %[5]s FROM walk WHERE n IS NOT NULL`,
		from, count+units.Number, d.Byte, all,
		fmt.Sprintf(d.All, fmt.Sprintf("CASE WHEN field <= %d THEN CAST(n >> 1 AS text) ELSE %s END", count+units.Number, d.Text)), count, d.Some)
	return "DROP VIEW IF EXISTS " + name + ";\nCREATE VIEW " + name + " AS SELECT " + columns + "\nFROM " + table + " AS d, " + fmt.Sprintf(d.Each, walk) + ";\n"
}
