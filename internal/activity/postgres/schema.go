package postgres

import (
	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
)

// Schema has the tables of this package in PostgreSQL.
//
// A day of records is a partition, so that retention drops a table and deletes no rows; see
// days.go. Everything that SQL neither orders nor bounds by is packed into data, as in
// [Schema]. IDs are kept as hashes of 8 bytes. Names are bytea: clients invent names of models, and
// text refuses some bytes.
//
// Each node adds to sums of its own, so that no two wait for the same row. A query adds them up; a
// rebuild leaves those of no node ("").
var Schema = postgres.Schema{
	Name: "activity",
	Steps: []string{`
		CREATE TABLE activity (
			tenant     bytea  NOT NULL,
			created_at bigint NOT NULL, -- nanoseconds since 1970
			seq        bigint NOT NULL, -- the hash of the ID, or random without one; over 0
			request_h  bigint,          -- the hash of the request ID
			upstream_h bigint,          -- the hash of the provider's ID
			data       bytea  NOT NULL,
			PRIMARY KEY (tenant, created_at, seq)
		) PARTITION BY RANGE (created_at);
		CREATE INDEX activity_time     ON activity (created_at, seq);
		CREATE INDEX activity_id       ON activity (seq);
		CREATE INDEX activity_request  ON activity (request_h);
		CREATE INDEX activity_upstream ON activity (upstream_h, created_at);

		-- Rows of calls that were taken for crashed: the real row of such a call replaces it.
		CREATE TABLE activity_crashed (
			tenant     bytea  NOT NULL,
			request_h  bigint NOT NULL,
			created_at bigint NOT NULL,
			seq        bigint NOT NULL,
			PRIMARY KEY (request_h, tenant)
		);

		CREATE TABLE activity_hours (
			start    bigint NOT NULL, -- hours since 1970
			tenant   bytea  NOT NULL,
			key      bytea  NOT NULL,
			model    bytea  NOT NULL,
			provider bytea  NOT NULL,
			code     bytea  NOT NULL,
			node     text   NOT NULL,
			data     bytea  NOT NULL,
			PRIMARY KEY (start, tenant, key, model, provider, code, node)
		);
		CREATE TABLE activity_days (
			start    bigint NOT NULL, -- days since 1970
			tenant   bytea  NOT NULL,
			key      bytea  NOT NULL,
			model    bytea  NOT NULL,
			provider bytea  NOT NULL,
			code     bytea  NOT NULL,
			node     text   NOT NULL,
			data     bytea  NOT NULL,
			PRIMARY KEY (start, tenant, key, model, provider, code, node)
		);

		-- The days that have a partition, from first to before until, and the last one that was dropped.
		CREATE TABLE activity_partitions (
			id     int         PRIMARY KEY CHECK (id = 1),
			first  bigint      NOT NULL, -- days since 1970
			until  bigint      NOT NULL,
			pruned bigint      NOT NULL,
			busy   timestamptz NOT NULL, -- until then one node makes and drops partitions
			-- Up to this day a gateway whose rows were copied had deleted some: sums are not made again.
			incomplete bigint  NOT NULL
		);
		INSERT INTO activity_partitions VALUES (1, 0, 0, -1, '1970-01-01', -1);`,
		sqlDialect.Views(),
		sqlDialect.Views(), // again, with units
		// Traces. No row is read: those of the days up to today have no entry in the index, and a query of a
		// trace scans these days as before. A backup that holds the table makes this fail, and it is tried again.
		`SET LOCAL lock_timeout = '2s';
		ALTER TABLE activity ADD COLUMN trace_h bigint; -- the hash of the trace, 0 without one; NULL: it is not known
		CREATE INDEX activity_trace ON ONLY activity (trace_h);
		DO $$
		DECLARE day text;
		BEGIN
			FOR day IN
				SELECT relname FROM pg_inherits JOIN pg_class ON oid = inhrelid
				WHERE inhparent = 'activity'::regclass AND relname > 'activity_d' || to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD')
			LOOP
				EXECUTE format('CREATE INDEX %I ON %I (trace_h)', day || '_trace', day);
				EXECUTE format('ALTER INDEX activity_trace ATTACH PARTITION %I', day || '_trace');
			END LOOP;
		END $$;`,
	},
}

// locks is the class of the advisory locks of this package. The lock of a day is shared by those
// who write its rows, and exclusive while its sums are made again; lock 0 is for making partitions.
const locks = 0x676174

// nodeLocks is the class of the locks of nodes: who adds to the sums of a node holds its lock.
const nodeLocks = locks + 1

var sqlDialect = activity.Dialect{
	Each: "LATERAL (%s) AS v(value)",
	All:  "json_object_agg(CAST(field - 1 AS text), %s)",
	Some: "get_byte(d.data, 0) = 2",
	Byte: "get_byte(d.data, at - 1)",
	Text: "encode(substring(d.data FROM CAST(at - n AS int) FOR CAST(n AS int)), 'escape')",
	Name: "encode(d.%[1]s, 'escape') AS %[1]s",
	Day:  "(to_timestamp(d.start * 86400) AT TIME ZONE 'UTC')::date",
	Hour: "to_timestamp(d.start * 3600)",
	Call: "to_timestamp(d.created_at / 1e9)",
}
