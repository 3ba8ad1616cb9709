package activity

import "context"

// Reader answers queries from what an engine keeps. It takes the hourly and daily sums of the
// records, which are kept longer than they are.
type Reader struct {
	engine Engine
	recent *recentSeries
	Bounds Bounds
}

// Bounds are how much a query may read: maxDays, maxNamedRows, maxMinuteRows and maxRecordRows;
// less in a test.
type Bounds struct{ Days, NamedRows, MinuteRows, RecordRows int }

// MaxCandidates bounds the rows that an engine reads for one id of any tenant: a provider that
// gives one ID to all of its answers must not make it read them all.
const MaxCandidates = 1000

// Engine keeps records and their sums.
type Engine interface {
	// Walk calls visit with the records that match f, newest first, until visit returns false. A
	// record is valid until then. The filter is checked, and its Limit says how many are wanted.
	Walk(ctx context.Context, f *Filter, visit func(seq int64, r *Record) bool) error
	// Find returns the newest record with this id, of its own or of a client; of all tenants for "".
	Find(ctx context.Context, tenant, id string) (found Record, ok bool, err error)
	// Snapshot calls read with what is there after every record appended before.
	Snapshot(ctx context.Context, read func(context.Context, Snapshot) error) error
}

// NewReader returns the reader of an engine's log.
func NewReader(e Engine) Reader {
	return Reader{e, &recentSeries{}, Bounds{maxDays, maxNamedRows, maxMinuteRows, maxRecordRows}}
}

// Snapshot is the roll-up and the records as of one commit.
type Snapshot interface {
	// State says whether the roll-up has all records. Of the days up to pruned records may be deleted.
	State() (complete bool, pruned int64)
	// Days returns the first day of the roll-up, and the one after its last.
	Days(ctx context.Context) (start, end int64, err error)
	// Sums calls visit with the rows of a part of the time, in its order. A row is valid until
	// visit returns. Rest is what follows the row in its data.
	Sums(ctx context.Context, q *SumQuery, part Span, visit func(*SumRow) (rest []byte, err error)) error
	// Rows calls visit with the records of the tenant and the time of f, newest first, until it
	// returns false. Of other filters it may use some. What it passes is valid until visit returns.
	Rows(ctx context.Context, f *Filter, visit func(tenant []byte, created int64, data []byte) (bool, error)) error
	// Walk calls visit with the records that match f, by time, newest first, until visit returns false.
	Walk(ctx context.Context, f *Filter, visit func(seq int64, r *Record) bool) error
}

// walk checks the filter first.
func (u Reader) walk(ctx context.Context, f Filter, visit func(seq int64, r *Record) bool) error {
	if err := f.check(); err != nil {
		return err
	}
	return u.engine.Walk(ctx, &f, visit)
}

// Page is one part of an answer, newest first.
type Page struct {
	Records []Record
	// Next is the Filter.Cursor of the following page, "" on the last one.
	Next string
}

// Query implements Log. Records appended meanwhile neither repeat nor hide one that existed when
// the first page was read. Errors: *ParamError, ErrBadCursor, the engine's,
// context.DeadlineExceeded after ten seconds.
func (u Reader) Query(ctx context.Context, f Filter) (Page, error) {
	limit := f.Limit
	if limit == 0 {
		limit = DefaultLimit
	}
	var page Page
	var last Cursor
	err := u.walk(ctx, f, func(seq int64, r *Record) bool {
		if len(page.Records) == limit { // one more than the limit: there is a next page
			page.Next = last.String()
			return false
		}
		page.Records = append(page.Records, *r)
		last = Cursor{r.CreatedAt.UnixNano(), seq}
		return true
	})
	if err != nil {
		return Page{}, err
	}
	return page, nil
}

// Find implements Log: the id is the record's ID, RequestID or UpstreamID.
func (u Reader) Find(ctx context.Context, tenant, id string) (found Record, ok bool, err error) {
	if tenant == "" {
		return Record{}, false, nil
	}
	return u.find(ctx, tenant, id)
}

// FindAny implements Log, for the operator.
func (u Reader) FindAny(ctx context.Context, id string) (found Record, ok bool, err error) {
	return u.find(ctx, "", id)
}

func (u Reader) find(ctx context.Context, tenant, id string) (found Record, ok bool, err error) {
	if id == "" || len(id) > maxText {
		return Record{}, false, nil
	}
	return u.engine.Find(ctx, tenant, id)
}
