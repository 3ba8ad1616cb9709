package activity

import (
	"hash/fnv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// Schema is this room's table, for store.Options.
//
// Ids are random, and an index over random texts costs a page write for each id of each row: measured, two of them
// make a row four times as dear. So ids are looked up by hash within blocks of 1,024 consecutive rows: inserts stay in
// the pages of the last block, a look-up probes every block, newest first.
var Schema = store.Schema{
	Room: "activity",
	Steps: []string{`
		CREATE TABLE activity (
			seq                  INTEGER PRIMARY KEY,
			id                   TEXT    NOT NULL,
			request_id           TEXT    NOT NULL,
			client_request_id    TEXT    NOT NULL,
			upstream_id          TEXT    NOT NULL,
			created_at           INTEGER NOT NULL, -- nanoseconds since 1970
			tenant               TEXT    NOT NULL,
			key                  TEXT    NOT NULL,
			key_hash             TEXT    NOT NULL,
			family               TEXT    NOT NULL,
			route                TEXT    NOT NULL,
			model                TEXT    NOT NULL,
			provider             TEXT    NOT NULL,
			upstream_model       TEXT    NOT NULL,
			status               INTEGER NOT NULL,
			code                 TEXT    NOT NULL,
			stream               INTEGER NOT NULL,
			latency              INTEGER NOT NULL, -- nanoseconds
			first_token          INTEGER NOT NULL, -- nanoseconds
			finish_reason        TEXT    NOT NULL,
			native_finish_reason TEXT    NOT NULL,
			prompt_tokens        INTEGER NOT NULL,
			completion_tokens    INTEGER NOT NULL,
			reasoning_tokens     INTEGER NOT NULL,
			cached_tokens        INTEGER NOT NULL,
			usage_source         TEXT    NOT NULL,
			cost_nano            INTEGER NOT NULL, -- nano-USD
			priced               INTEGER NOT NULL,
			attempts             INTEGER NOT NULL,
			id_hash              INTEGER NOT NULL,
			request_hash         INTEGER NOT NULL,
			upstream_hash        INTEGER           -- NULL: the provider gave no id
		);
		CREATE INDEX activity_time ON activity (tenant, created_at, id);
		CREATE INDEX activity_id ON activity (seq >> 10, id_hash);
		CREATE INDEX activity_request ON activity (seq >> 10, request_hash);
		CREATE INDEX activity_upstream ON activity (seq >> 10, upstream_hash) WHERE upstream_hash IS NOT NULL;`,
	},
}

// columns are read in this order by scan and written in this order by insert, which adds the hashes.
const columns = `id, request_id, client_request_id, upstream_id, created_at, tenant, key, key_hash, family, route,
	model, provider, upstream_model, status, code, stream, latency, first_token, finish_reason, native_finish_reason,
	prompt_tokens, completion_tokens, reasoning_tokens, cached_tokens, usage_source, cost_nano, priced, attempts`

var insert = "INSERT INTO activity (" + columns + ", id_hash, request_hash, upstream_hash) VALUES (" +
	strings.Repeat("?, ", strings.Count(columns, ",")+3) + "?)"

// hash is FNV-1a: an index entry of 8 bytes. What it finds is compared with the id itself. The tenant is in it, so that
// an id which a careless provider gives to everybody leads nobody through another tenant's rows.
func hash(tenant, id string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(tenant))
	_, _ = h.Write([]byte{0})
	_, _ = h.Write([]byte(id))
	return int64(h.Sum64())
}
