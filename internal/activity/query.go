package activity

import (
	"context"
	"database/sql"
	"slices"
)

// Page is one part of an answer, newest first.
type Page struct {
	Records []Record
	// Next is the Filter.Cursor of the following page, "" on the last one.
	Next string
}

// Query returns the records that match f, newest first. Records appended meanwhile neither repeat
// nor hide one that existed when the first page was read. Errors: *ParamError, ErrBadCursor, the
// store's, context.DeadlineExceeded after ten seconds.
func (l *SQLiteLog) Query(ctx context.Context, f Filter) (Page, error) { return page(ctx, l.walk, f) }

// page collects a page from the records that walk visits.
func page(ctx context.Context, walk func(context.Context, Filter, func(int64, *Record) bool) error, f Filter) (Page, error) {
	limit := f.Limit
	if limit == 0 {
		limit = DefaultLimit
	}
	var page Page
	var last cursor
	err := walk(ctx, f, func(seq int64, r *Record) bool {
		if len(page.Records) == limit { // one more than the limit: there is a next page
			page.Next = last.String()
			return false
		}
		page.Records = append(page.Records, *r)
		last = cursor{r.CreatedAt.UnixNano(), seq}
		return true
	})
	if err != nil {
		return Page{}, err
	}
	return page, nil
}

// walk calls visit with the records that match f, newest first, until visit returns false; r is
// valid until then. It ignores Limit.
func (l *SQLiteLog) walk(ctx context.Context, f Filter, visit func(seq int64, r *Record) bool) error {
	if err := f.check(); err != nil {
		return err
	}
	ctx, cancel, err := l.begin(ctx)
	defer cancel()
	if err != nil {
		return err
	}
	switch {
	case f.RequestID != "":
		return l.walkFew(ctx, &f, search{id: f.RequestID, slots: []int{slotRequest}}, visit)
	case f.TraceID != "":
		return l.walkFew(ctx, &f, search{id: f.TraceID, slots: []int{slotTrace}}, visit)
	}
	return l.walkRows(ctx, l.store.Reader(), &f, visit)
}

// walkRows is walk by time.
func (l *SQLiteLog) walkRows(ctx context.Context, from querier, f *Filter, visit func(seq int64, r *Record) bool) error {
	tenants, err := l.tenants(ctx, from, f)
	if err != nil || len(tenants) == 0 {
		return err
	}
	query, args := f.source(tenants)
	r := Record{Tenant: tenants[0]}
	return l.readFrom(ctx, from, func(rows *sql.Rows) (bool, error) {
		seq, err := scan(rows, &r, r.Tenant)
		if err != nil || !f.matches(&r) {
			return true, err
		}
		return visit(seq, &r), nil
	}, query, args...)
}

// tenants returns those whose records f selects.
func (l *SQLiteLog) tenants(ctx context.Context, from querier, f *Filter) (all []string, err error) {
	if !f.AllTenants {
		return []string{f.Tenant}, nil
	}
	err = l.readFrom(ctx, from, func(rows *sql.Rows) (bool, error) {
		var tenant string
		err := rows.Scan(&tenant)
		all = append(all, tenant)
		return true, err
	}, allTenants)
	return all, err
}

// maxFound bounds the rows that are read for a page: a caller may give one trace to all of its calls. They
// are the newest; a page of [MaxLimit] is among them.
const maxFound = 10 * MaxLimit

// walkFew is walk for one request or trace. It finds the few records by their hashes.
func (l *SQLiteLog) walkFew(ctx context.Context, f *Filter, s search, visit func(seq int64, r *Record) bool) error {
	type found struct {
		at cursor
		r  Record
	}
	var all []found
	from, to := f.span()
	after := f.after()
	s.tenant, s.all = f.Tenant, f.AllTenants
	err := l.identified(ctx, s, func(seq int64, r Record) bool {
		at := cursor{r.CreatedAt.UnixNano(), seq}
		if at.created >= from && at.created < to && (after == cursor{} || at.compare(after) < 0) && f.matches(&r) {
			all = append(all, found{at, r})
		}
		return len(all) < maxFound
	})
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b found) int { return b.at.compare(a.at) })
	for i := range all {
		if !visit(all[i].at.seq, &all[i].r) {
			break
		}
	}
	return nil
}

// Find returns the tenant's newest record whose ID, RequestID or UpstreamID is id.
func (l *SQLiteLog) Find(ctx context.Context, tenant, id string) (found Record, ok bool, err error) {
	return l.find(ctx, search{tenant: tenant, id: id})
}

// FindAny is Find for the operator: it looks at all tenants.
func (l *SQLiteLog) FindAny(ctx context.Context, id string) (found Record, ok bool, err error) {
	return l.find(ctx, search{all: true, id: id, most: maxCandidates})
}

func (l *SQLiteLog) find(ctx context.Context, s search) (found Record, ok bool, err error) {
	if s.id == "" || len(s.id) > maxText {
		return Record{}, false, nil
	}
	ctx, cancel, err := l.begin(ctx)
	defer cancel()
	if err != nil {
		return Record{}, false, err
	}
	s.slots = []int{slotID, slotRequest, slotUpstream}
	err = l.identified(ctx, s, func(_ int64, r Record) bool {
		found, ok = r, true
		return false
	})
	if err != nil {
		return Record{}, false, err
	}
	return found, ok, nil
}
