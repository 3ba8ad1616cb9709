package sqlite_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/activity/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/activitytest"
)

// held is an operation whose commit ends when the channel is closed.
type held chan struct{}

func (h held) Apply(*store.Tx) error { <-h; return nil }
func (held) Droppable() bool         { return false }

// What is committed can be read, and it is known since when rows may be missing.
func TestWhileCommitsAreBlockedQueriesAnswerWithWhatThereIs(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		st, log := openDir(t, dir, store.Options{Schemas: []store.Schema{sqlite.Schema}})
		log.Append(record(1))
		if err := st.Flush(t.Context()); err != nil || !log.BlockedSince().IsZero() {
			t.Fatal(err, log.BlockedSince())
		}
		lock := make(held)
		began := time.Now()
		log.Append(record(2)) // waits for its commit before that is blocked
		if err := st.Submit(lock); err != nil {
			t.Fatal(err)
		}
		ask := func(longest time.Duration) {
			t.Helper()
			from := time.Now()
			page := activitytest.Query(t, log, activity.Filter{Tenant: "default"})
			if got := activitytest.IDs(page.Records); got != "1" || time.Since(from) > longest {
				t.Errorf("%q after %v", got, time.Since(from))
			}
			if since := log.BlockedSince(); !since.Equal(began) {
				t.Errorf("blocked since %v, began %v", since, began)
			}
		}
		ask(2 * time.Second)
		ask(100 * time.Millisecond) // it is known by now
		if _, ok, err := log.FindAny(t.Context(), record(1).ID); !ok || err != nil {
			t.Error(ok, err)
		}
		if days, err := log.Daily(t.Context(), activity.Filter{Tenant: "default", Daily: true}); len(days) != 1 || err != nil {
			t.Error(days, err)
		}
		close(lock)
		if err := st.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if page := activitytest.Query(t, log, activity.Filter{Tenant: "default"}); len(page.Records) != 2 || !log.BlockedSince().IsZero() {
			t.Errorf("%d records, blocked since %v", len(page.Records), log.BlockedSince())
		}
	})
}
