package sqlite

import (
	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// Schema has the tables of this package, for store.Options.
//
// A record is written for every call and read for few, so a row costs one append and one entry of
// an index. Everything that SQL neither orders nor bounds by is packed into data (see Encode);
// queries filter and sum while they unpack. IDs are random, and an index of them would write a page
// for each ID of each row. So they are kept as hashes in blocks (see ids.go).
var Schema = store.Schema{
	Name: "activity",
	Steps: []string{`
		CREATE TABLE activity (
			seq        INTEGER PRIMARY KEY,
			tenant     TEXT    NOT NULL,
			created_at INTEGER NOT NULL, -- nanoseconds since 1970
			data       BLOB    NOT NULL
		);
		CREATE INDEX activity_time ON activity (tenant, created_at);
		CREATE TABLE activity_ids (
			block  INTEGER PRIMARY KEY,
			hashes BLOB    NOT NULL
		);`,
		// The roll-up. Rows that exist already are added in steps.
		`CREATE TABLE activity_hours (
			start    INTEGER NOT NULL, -- hours since 1970
			tenant   TEXT    NOT NULL,
			key      TEXT    NOT NULL,
			model    TEXT    NOT NULL,
			provider TEXT    NOT NULL,
			code     TEXT    NOT NULL,
			data     BLOB    NOT NULL,
			PRIMARY KEY (start, tenant, key, model, provider, code)
		) WITHOUT ROWID;
		CREATE TABLE activity_days (
			start    INTEGER NOT NULL, -- days since 1970
			tenant   TEXT    NOT NULL,
			key      TEXT    NOT NULL,
			model    TEXT    NOT NULL,
			provider TEXT    NOT NULL,
			code     TEXT    NOT NULL,
			data     BLOB    NOT NULL,
			PRIMARY KEY (start, tenant, key, model, provider, code)
		) WITHOUT ROWID;
		CREATE TABLE activity_rollup (
			id       INTEGER PRIMARY KEY CHECK (id = 1),
			next     INTEGER NOT NULL,
			upto     INTEGER NOT NULL,
			clearing INTEGER NOT NULL,
			pruned   INTEGER NOT NULL
		);
		INSERT INTO activity_rollup SELECT 1, 1, ifnull(max(seq), 0), 0, -1 FROM activity;`,
		sqlDialect.Views(),
		sqlDialect.Views(), // again, with units
	},
}

var sqlDialect = activity.Dialect{
	Each: "json_each(json_array(json((%s)))) AS v",
	All:  "json_group_object(CAST(field - 1 AS TEXT), %s)",
	Some: "hex(substr(d.data, 1, 1)) = '02'",
	Byte: "instr('123456789ABCDEF', substr(hex(substr(d.data, at, 1)), 1, 1)) * 16 " +
		"+ instr('123456789ABCDEF', substr(hex(substr(d.data, at, 1)), 2, 1))",
	Text: "CAST(substr(d.data, at - n, n) AS TEXT)",
	Name: "d.%[1]s",
	Day:  "date(d.start * 86400, 'unixepoch')",
	Hour: "strftime('%Y-%m-%dT%H:%M:%SZ', d.start * 3600, 'unixepoch')",
	Call: "strftime('%Y-%m-%dT%H:%M:%fZ', d.created_at / 1e9, 'unixepoch')",
}
