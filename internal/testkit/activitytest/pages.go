package activitytest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

func pages(t *testing.T, log activity.Log) {
	const before = 140
	for i := range before {
		r := Call(i)
		r.CreatedAt = Noon.Add(time.Duration(i/7) * time.Second) // equal times
		log.Append(r)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(stop)
	f := activity.Filter{Tenant: "default", Limit: 7}
	page := Query(t, log, f)
	wg.Go(func() { // newer ones, and calls that began long ago and end now
		for i := before; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			r := Call(i)
			if i%2 == 0 {
				r.CreatedAt = Noon.Add(time.Duration(i%40)*time.Second + time.Nanosecond)
			}
			log.Append(r)
			if i%50 == 0 {
				if _, _, err := log.Find(context.Background(), "default", r.ID); err != nil {
					t.Error(err)
				}
			}
		}
	})
	seen := map[string]int{}
	last := page.Records[0]
	for {
		for _, r := range page.Records {
			if seen[r.ID]++; r.CreatedAt.After(last.CreatedAt) {
				t.Fatalf("%s out of order", r.ID)
			}
			last = r
		}
		if page.Next == "" {
			break
		}
		f.Cursor = page.Next
		page = Query(t, log, f)
	}
	for i := range before {
		if n := seen[Call(i).ID]; n != 1 {
			t.Errorf("record %d was seen %d times", i, n)
		}
	}
	for id, n := range seen {
		if n > 1 {
			t.Errorf("%s was seen %d times", id, n)
		}
	}
}

func allTenants(t *testing.T, log activity.Log) {
	const n = 500
	for i := range n {
		r := Call(i)
		r.Tenant = fmt.Sprint("tenant", i%7)
		r.CreatedAt = Noon.Add(-time.Duration(i) * 10 * time.Minute)
		log.Append(r)
	}
	got := All(t, log, activity.Filter{AllTenants: true, Limit: 33})
	if len(got) != n || !slices.IsSortedFunc(got, func(a, b *activity.Record) int { return b.CreatedAt.Compare(a.CreatedAt) }) {
		t.Errorf("%d records, or not in order", len(got))
	}
	for i, r := range got {
		if r.ID != fmt.Sprint("gen-", i) || r.Tenant != fmt.Sprint("tenant", i%7) {
			t.Fatalf("record %d is %s of %s", i, r.ID, r.Tenant)
		}
	}
}
