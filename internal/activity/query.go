package activity

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"
)

// Page is one part of an answer, newest first.
type Page struct {
	Records []Record
	// Next is the Filter.Cursor of the following page, "" on the last one.
	Next string
}

// Query returns the records that match f, newest first. Records appended meanwhile neither repeat nor hide one that was
// there when the first page was asked for. Errors: *ParamError, ErrBadCursor, the store's, context.DeadlineExceeded after
// ten seconds.
func (l *Log) Query(ctx context.Context, f Filter) (Page, error) {
	if err := f.check(); err != nil {
		return Page{}, err
	}
	source, args := f.source()
	if f.Cursor != "" {
		at, err := parseCursor(f.Cursor)
		if err != nil {
			return Page{}, err
		}
		source += " AND (created_at, id) < (?, ?)"
		args = append(args, at.created, at.id)
	}
	limit := f.Limit
	if limit == 0 {
		limit = DefaultLimit
	}
	var page Page
	// One row more than asked for tells whether there is a next page.
	err := l.read(ctx, func(rows *sql.Rows) error {
		r, err := scan(rows)
		page.Records = append(page.Records, r)
		return err
	}, "SELECT "+columns+" FROM "+source+" ORDER BY created_at DESC, id DESC LIMIT ?", append(args, limit+1)...)
	if err != nil {
		return Page{}, err
	}
	if len(page.Records) > limit {
		page.Records = page.Records[:limit]
		last := page.Records[limit-1]
		page.Next = cursor{created: last.CreatedAt.UnixNano(), id: last.ID}.String()
	}
	return page, nil
}

// blocks lists the blocks of Schema from the newest.
const blocks = `WITH RECURSIVE block (n) AS (
		SELECT max(seq) >> 10 FROM activity
		UNION ALL
		SELECT n - 1 FROM block WHERE n > (SELECT min(seq) >> 10 FROM activity)
	)`

// find probes the index of hashes block by block until one has the id, then takes the newest row there.
const find = "SELECT " + columns + ` FROM activity WHERE HASH_COLUMN = ?1 AND ID_COLUMN = ?2 AND tenant = ?3 AND seq >> 10 = (` + blocks + `
		SELECT n FROM block WHERE EXISTS (
			SELECT 1 FROM activity WHERE seq >> 10 = n AND HASH_COLUMN = ?1 AND ID_COLUMN = ?2 AND tenant = ?3) LIMIT 1)
	ORDER BY seq DESC LIMIT 1`

// finders are tried in order: our ids are unique, a provider may repeat its own, the newest then counts.
var finders = []string{
	strings.NewReplacer("HASH_COLUMN", "id_hash", "ID_COLUMN", "id").Replace(find),
	strings.NewReplacer("HASH_COLUMN", "request_hash", "ID_COLUMN", "request_id").Replace(find),
	strings.NewReplacer("HASH_COLUMN", "upstream_hash", "ID_COLUMN", "upstream_id").Replace(find),
}

// Find returns the tenant's newest record whose ID, RequestID or UpstreamID is id.
func (l *Log) Find(ctx context.Context, tenant, id string) (Record, bool, error) {
	if id == "" || len(id) > maxText {
		return Record{}, false, nil
	}
	for _, query := range finders {
		var found []Record
		err := l.read(ctx, func(rows *sql.Rows) error {
			r, err := scan(rows)
			found = append(found, r)
			return err
		}, query, hash(tenant, id), id, tenant)
		if err != nil {
			return Record{}, false, err
		}
		if len(found) > 0 {
			return found[0], true, nil
		}
	}
	return Record{}, false, nil
}

// Day sums the calls of one UTC date to one model at one provider.
type Day struct {
	Date            string // YYYY-MM-DD
	Model, Provider string
	// Requests counts every call, refused ones too; Unpriced those whose cost is unknown and not in CostNano.
	Requests, Unpriced                                            int64
	PromptTokens, CompletionTokens, ReasoningTokens, CachedTokens int64
	CostNano                                                      int64
}

// maxDays bounds the rows of Daily: names of models come from clients.
const maxDays = 10_000

// ErrTooManyDays is returned by Daily when the answer would be longer than 10,000 rows.
var ErrTooManyDays = errors.New("more than 10000 daily rows: ask for fewer days or for one model")

const nanosPerDay = int64(24 * time.Hour)

// Daily sums the records that match f by UTC date, model and provider, newest date first. Limit and Cursor do not count.
// It reads every matching record, within the ten seconds of any query.
func (l *Log) Daily(ctx context.Context, f Filter) ([]Day, error) {
	f.Limit, f.Cursor = 0, ""
	if err := f.check(); err != nil {
		return nil, err
	}
	source, args := f.source()
	var days []Day
	err := l.read(ctx, func(rows *sql.Rows) error {
		var d Day
		var day, dollars, nano int64
		err := rows.Scan(&day, &d.Model, &d.Provider, &d.Requests, &d.Unpriced,
			&d.PromptTokens, &d.CompletionTokens, &d.ReasoningTokens, &d.CachedTokens, &dollars, &nano)
		d.Date = time.Unix(0, day*nanosPerDay).UTC().Format(time.DateOnly)
		d.CostNano = dollars*1e9 + nano
		days = append(days, d)
		return err
	}, `SELECT created_at / 86400000000000 AS day, model, provider, count(*), sum(NOT priced),
			sum(prompt_tokens), sum(completion_tokens), sum(reasoning_tokens), sum(cached_tokens),
			sum(iif(priced, cost_nano / 1000000000, 0)), sum(iif(priced, cost_nano % 1000000000, 0))
		FROM `+source+` GROUP BY day, model, provider ORDER BY day DESC, model, provider LIMIT ?`,
		append(args, l.maxDays+1)...)
	if err != nil {
		return nil, err
	}
	if len(days) > l.maxDays {
		return nil, ErrTooManyDays
	}
	return days, nil
}
