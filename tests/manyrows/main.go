// Command manyrows makes the data directory of a gateway that has served for a month, or for another
// time.
//
//	manyrows -dir DIR [-rows N] [-over DURATION]
//	manyrows -dir DIR -demo
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	sqliteactivity "github.com/gatehouse-proxy/gatehouse/internal/activity/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// month is how far the rows go back by default.
const month = 30 * 24 * time.Hour

// atOnce is how many records may wait: they are dropped if they come faster than they are written.
const atOnce = 10_000

func main() {
	dir := flag.String("dir", "", "the data_dir to make")
	rows := flag.Int("rows", 1_000_000, "how many calls")
	over := flag.Duration("over", month, "how far they go back")
	believable := flag.Bool("demo", false, "a week of calls for the pictures of the documentation instead")
	flag.Parse()
	rowsOf := func(ctx context.Context, st *store.Store, now time.Time) error {
		return fill(ctx, st, *rows, *over, now)
	}
	if *believable {
		rowsOf = demo
	}
	if err := within(*dir, rowsOf); err != nil {
		log.Fatal(err)
	}
}

// within opens the store of a data_dir for what makes its rows.
func within(dir string, fill func(context.Context, *store.Store, time.Time) error) error {
	st, err := store.Open(dir, store.Options{Schemas: []store.Schema{sqliteactivity.Schema, sqlite.LedgerSchema}})
	if err != nil {
		return err
	}
	return errors.Join(fill(context.Background(), st, time.Now()), st.Close())
}

func fill(ctx context.Context, st *store.Store, rows int, over time.Duration, now time.Time) error {
	calls := sqliteactivity.New(st)
	for i := range rows {
		calls.Append(call(i, now.Add(-over+time.Duration(float64(over)*float64(i)/float64(rows)))))
		if i%atOnce == 0 {
			if err := st.Flush(ctx); err != nil {
				return err
			}
		}
	}
	return st.Flush(ctx)
}

// call is the i-th one: of several keys, models and providers, most without a fault.
func call(i int, at time.Time) *activity.Record {
	r := &activity.Record{
		ID: fmt.Sprintf("gen-%032x", i), RequestID: fmt.Sprintf("req_%032x", i), UpstreamID: fmt.Sprintf("chatcmpl-%d", i), CreatedAt: at.UTC(),
		Tenant: "default", Key: fmt.Sprintf("key-%d", i%7), Family: "openai", Route: "POST /v1/chat/completions",
		Model: fmt.Sprintf("provider-%d/model-%d", i%4, i%23), Provider: fmt.Sprintf("provider-%d", i%4), Status: 200, Stream: i%2 == 0,
		Latency: time.Duration(200+i%4000) * time.Millisecond, FirstToken: time.Duration(100+i%700) * time.Millisecond,
		PromptTokens: int64(50 + i%3000), CompletionTokens: int64(10 + i%900), CostNano: int64(1000 + i%90_000), Priced: i%11 != 0, Attempts: 1,
	}
	switch {
	case i%50 == 0:
		r.Status, r.Code = 429, "rate_limit_exceeded"
	case i%97 == 0:
		r.Status, r.Code = 502, "upstream_error"
	}
	return r
}
