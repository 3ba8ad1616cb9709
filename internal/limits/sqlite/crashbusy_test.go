package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// childRound tells the child to play busyChild, and is the prefix of its calls.
const childRound = "LIMITS_TEST_ROUND"

// usedBy is what call n uses of the reserved amount.
func usedBy(n int64) int64 { return n % (reserved + 1) }

// busyChild reserves and settles as fast as it can. It prints a call before it settles it, so what
// is not printed was not settled.
func busyChild(dir, round string) error {
	ctx := context.Background()
	l, err := openInChild(ctx, dir, 3*time.Millisecond)
	if err != nil {
		return err
	}
	rich := limits.Subject{Name: "gateway", Budgets: []limits.Budget{{Unit: limits.Money, Limit: 1e15, Period: limits.Total}}}
	var calls atomic.Int64
	var mu sync.Mutex
	out := bufio.NewWriter(os.Stdout)
	failed := make(chan error, 1)
	for range 4 {
		go func() {
			for {
				n := calls.Add(1)
				r := limits.ReserveRequest{Call: fmt.Sprintf("%s-%d", round, n), At: noon, Most: limits.Amount{Nano: reserved}, Subjects: []limits.Subject{rich}, Durable: true}
				h, refusal, err := limits.Reserve(ctx, l, r)
				if err == nil && refusal == nil {
					mu.Lock()
					fmt.Fprintln(out, n)
					err = out.Flush()
					mu.Unlock()
				}
				if err == nil {
					err = h.Settle(ctx, limits.Amount{Nano: usedBy(n)})
				}
				if err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	return <-failed
}

// Whenever the process is killed, each call is charged once: what it used, or as reserved and
// reported. The rounds are long enough for both files of the redo log to be used several times.
func TestAKillAtAnyTimeChargesEachCallOnce(t *testing.T) {
	dir := t.TempDir()
	want := int64(0)
	for i, lines := range []int{1, 500, 15_000, 20_011} {
		round := strconv.Itoa(i)
		cmd, printed := startChild(t, childDir+"="+dir, childRound+"="+round)
		seen := map[int64]bool{}
		for printed.Scan() {
			n, err := strconv.ParseInt(printed.Text(), 10, 64)
			if err != nil {
				t.Fatalf("the child said %q", printed.Text())
			}
			if seen[n] = true; len(seen) == lines {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = cmd.Wait() // it was killed
		if len(seen) < lines {
			t.Fatalf("the child ended after %d calls", len(seen))
		}
		st := open(t, dir, store.Options{})
		l, crashed := openLedger(t, st)
		for _, c := range crashed {
			name, number, _ := strings.Cut(c.Call, "-")
			n, err := strconv.ParseInt(number, 10, 64)
			if err != nil || name != round || c.Amount.Nano != reserved {
				t.Fatalf("%+v, %v", c, err)
			}
			want += reserved
			delete(seen, n)
		}
		for n := range seen {
			want += usedBy(n)
		}
		t.Logf("round %s: %d calls crashed, %d settled", round, len(crashed), len(seen))
		b, err := l.Status(t.Context(), noon, []limits.Subject{{Name: "gateway", Budgets: []limits.Budget{{Unit: limits.Money, Limit: 1e15, Period: limits.Total}}}})
		if err != nil || b[0].Spent != want {
			t.Fatalf("round %s: %+v, %v; want %d spent", round, b, err, want)
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// copied returns a copy of a data directory: what a kill -9 would leave now.
func copied(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// The points at which a kill meets a call: its record is written, the group is committed, its
// settlement waits, is written with the record of another call, is committed.
func TestAKillAtEachPointOfACall(t *testing.T) {
	dir := t.TempDir()
	st := open(t, dir, store.Options{CommitInterval: 24 * time.Hour})
	l, _ := openLedger(t, st)
	key := budgeted(t, "key:a", "10usd/day")
	reserve := func(call string) {
		t.Helper()
		r := limits.ReserveRequest{Call: call, At: noon, Most: limits.Amount{Nano: reserved}, Subjects: []limits.Subject{key}, Durable: true}
		if refusal, err := l.Reserve(t.Context(), r); refusal != nil || err != nil {
			t.Fatal(refusal, err)
		}
	}
	commit := func() {
		t.Helper()
		if err := st.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	settle := func(call string, n int64) {
		t.Helper()
		if err := l.Settle(t.Context(), call, limits.Amount{Nano: n}); err != nil {
			t.Fatal(err)
		}
	}
	for _, point := range []struct {
		name    string
		do      func()
		spent   int64
		crashes int
	}{
		{"record written", func() { reserve("a") }, reserved, 1},
		{"committed", commit, reserved, 1},
		{"settlement waits", func() { settle("a", 2) }, reserved, 1},
		{"settlement written", func() { reserve("b") }, 2 + reserved, 1},
		{"settlement committed", commit, 2 + reserved, 1},
		{"both settled", func() { settle("b", 3); commit() }, 5, 0},
		{"nothing since", func() {}, 5, 0},
	} {
		point.do()
		crash := copied(t, dir)
		for again := range 2 {
			st := open(t, crash, store.Options{})
			l, crashed := openLedger(t, st)
			if want := point.crashes * (1 - again); len(crashed) != want {
				t.Errorf("%s: %+v crashed, want %d", point.name, crashed, want)
			}
			balance(t, l, key, point.spent, 0)
			st.Close()
		}
	}
}

// Reservations that an earlier version kept in the table are charged at the first start.
func TestReservationsOfAnEarlierVersionAreCharged(t *testing.T) {
	dir := t.TempDir()
	st := open(t, dir, store.Options{CommitInterval: time.Hour})
	for _, budget := range []string{"usd/day", "usd/month"} {
		period := map[string]string{"usd/day": "2026-05-13", "usd/month": "2026-05-01"}[budget]
		if err := st.Submit(statement("INSERT INTO hold VALUES ('call', 'key:a', '" + budget + "', '" + period + "', 5, 0)")); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	crash := copied(t, dir)
	for _, name := range []string{"-redo0", "-redo1"} { // it has none
		if err := os.Remove(filepath.Join(crash, store.FileName+name)); err != nil {
			t.Fatal(err)
		}
	}
	l, crashed := openLedger(t, open(t, crash, store.Options{}))
	if len(crashed) != 1 || crashed[0].Call != "call" || crashed[0].Amount.Nano != 5 {
		t.Errorf("%+v", crashed)
	}
	balance(t, l, budgeted(t, "key:a", "10usd/day"), 5, 0)
	balance(t, l, budgeted(t, "key:a", "10usd/month"), 5, 0)
}
