package activity

import "github.com/gatehouse-proxy/gatehouse/internal/store"

// Schema is this room's tables, for store.Options.
//
// A record is written for every call and read for few, so a row costs one append and one entry of an index: what SQL
// neither orders nor bounds by is packed into data (see encode), and questions filter and sum while they unpack. Ids are
// random; an index over them would write a page for each id of each row, so they are kept as hashes in blocks
// (see ids.go).
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
	},
}
