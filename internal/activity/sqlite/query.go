package sqlite

import (
	"context"
	"database/sql"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

// Walk implements [activity.Engine].
func (s source) Walk(ctx context.Context, f *activity.Filter, visit func(seq int64, r *activity.Record) bool) error {
	ctx, cancel, err := s.log.begin(ctx)
	defer cancel()
	if err != nil {
		return err
	}
	switch {
	case f.RequestID != "":
		return s.log.walkFew(ctx, f, search{id: f.RequestID, slots: []int{slotRequest}}, visit)
	case f.TraceID != "":
		return s.log.walkFew(ctx, f, search{id: f.TraceID, slots: []int{slotTrace}}, visit)
	}
	return s.log.walkRows(ctx, s.log.store.Reader(), f, visit)
}

// walkRows is walk by time.
func (l *Log) walkRows(ctx context.Context, from querier, f *activity.Filter, visit func(seq int64, r *activity.Record) bool) error {
	var r activity.Record
	return l.rows(ctx, from, f, func(rows *sql.Rows) (bool, error) {
		seq, err := scan(rows, &r, r.Tenant)
		if err != nil || !f.Matches(&r) {
			return true, err
		}
		return visit(seq, &r), nil
	})
}

// rows calls visit with the rows of the tenants and the time of f, newest first, until it returns false.
func (l *Log) rows(ctx context.Context, from querier, f *activity.Filter, visit func(*sql.Rows) (bool, error)) error {
	tenants, err := l.tenants(ctx, from, f)
	if err != nil || len(tenants) == 0 {
		return err
	}
	query, args := rowsQuery(f, tenants)
	return l.read(ctx, from, visit, query, args...)
}

// tenants returns those whose records f selects.
func (l *Log) tenants(ctx context.Context, from querier, f *activity.Filter) (all []string, err error) {
	if !f.AllTenants {
		return []string{f.Tenant}, nil
	}
	err = l.read(ctx, from, func(rows *sql.Rows) (bool, error) {
		var tenant string
		err := rows.Scan(&tenant)
		all = append(all, tenant)
		return true, err
	}, allTenants)
	return all, err
}

// maxFound bounds the rows that are read for a page: a caller may give one trace to all of its
// calls. They are the newest; a page of [MaxLimit] is among them.
const maxFound = 10 * activity.MaxLimit

// walkFew is walk for one request or trace. It finds the few records by their hashes.
func (l *Log) walkFew(ctx context.Context, f *activity.Filter, s search, visit func(seq int64, r *activity.Record) bool) error {
	type found struct {
		at activity.Cursor
		r  activity.Record
	}
	var all []found
	from, to := f.Span()
	after := f.After()
	if !f.AllTenants {
		s.tenant = f.Tenant
	}
	err := l.identified(ctx, s, func(seq int64, r activity.Record) bool {
		at := activity.Cursor{Created: r.CreatedAt.UnixNano(), Seq: seq}
		if at.Created >= from && at.Created < to && (after == activity.Cursor{} || at.Compare(after) < 0) && f.Matches(&r) {
			all = append(all, found{at, r})
		}
		return len(all) < maxFound
	})
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b found) int { return b.at.Compare(a.at) })
	for i := range all {
		if !visit(all[i].at.Seq, &all[i].r) {
			break
		}
	}
	return nil
}

// Find implements [activity.Engine].
func (s source) Find(ctx context.Context, tenant, id string) (found activity.Record, ok bool, err error) {
	ctx, cancel, err := s.log.begin(ctx)
	defer cancel()
	if err != nil {
		return activity.Record{}, false, err
	}
	by := search{tenant: tenant, id: id, slots: []int{slotID, slotRequest, slotUpstream}}
	if tenant == "" {
		by.most = activity.MaxCandidates
	}
	err = s.log.identified(ctx, by, func(_ int64, r activity.Record) bool {
		found, ok = r, true
		return false
	})
	return found, ok, err
}
