package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

const (
	// childDir tells a copy of this test binary the data directory. The copy plays the process that
	// is killed.
	childDir = "LIMITS_TEST_DIR"
	streams  = 100
	reserved = 7
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		play := child
		if round := os.Getenv(childRound); round != "" {
			play = func(dir string) error { return busyChild(dir, round) }
		}
		if err := play(dir); err != nil {
			fmt.Println("error", err)
		}
		return
	}
	os.Exit(m.Run())
}

var (
	poor     = limits.Subject{Name: "key:a", Budgets: []limits.Budget{{Unit: limits.Money, Limit: 1e9, Period: limits.Daily}}}
	landlord = limits.Subject{Name: "tenant:a", Budgets: []limits.Budget{{Unit: limits.Money, Limit: 1e9, Period: limits.Total}, {Unit: limits.Tokens, Limit: 1e9, Period: limits.Monthly}}}
)

// openInChild opens the ledger of a process that will be killed.
func openInChild(ctx context.Context, dir string, commitInterval time.Duration) (*sqlite.Ledger, error) {
	st, err := store.Open(dir, store.Options{Schemas: []store.Schema{sqlite.LedgerSchema}, CommitInterval: commitInterval})
	if err != nil {
		return nil, err
	}
	l, _, err := sqlite.OpenLedger(ctx, st)
	return l, err
}

// child settles one call, opens streams, reports that, and waits to be killed. Only the commits
// that somebody waits for happen.
func child(dir string) error {
	ctx := context.Background()
	l, err := openInChild(ctx, dir, 24*time.Hour)
	if err != nil {
		return err
	}
	r := limits.ReserveRequest{At: noon, Most: limits.Amount{Nano: reserved, Tokens: 2 * reserved}, Subjects: []limits.Subject{poor, landlord}, Durable: true}
	r.Call = "settled"
	h, _, err := limits.Reserve(ctx, l, r)
	if err != nil {
		return err
	}
	if err := h.Settle(ctx, limits.Amount{Nano: 1, Tokens: 1}); err != nil {
		return err
	}
	errs := make(chan error, streams)
	var wg sync.WaitGroup
	for i := range streams {
		wg.Go(func() {
			r := r
			r.Call, r.At = fmt.Sprintf("stream-%03d", i), noon.Add(time.Duration(i))
			refusal, err := l.Reserve(ctx, r)
			if err == nil && refusal != nil {
				err = fmt.Errorf("refused: %+v", refusal)
			}
			if err != nil {
				errs <- err
			}
		})
	}
	wg.Wait()
	select {
	case err := <-errs:
		return err
	default:
		fmt.Println("open")
	}
	_, err = bufio.NewReader(os.Stdin).ReadByte()
	return err
}

// startChild returns a running copy of this test binary and the lines that it prints.
func startChild(t *testing.T, env ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), env...)
	cmd.WaitDelay = 10 * time.Second
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stdin.Close() })
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// A kill -9 with a hundred open streams does not lower what was spent, and neither does pruning
// afterwards.
func TestKilledProcessIsChargedAsReserved(t *testing.T) {
	dir := t.TempDir()
	cmd, lines := startChild(t, childDir+"="+dir)
	if !lines.Scan() || lines.Text() != "open" {
		t.Fatalf("the child said %q", lines.Text())
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed

	st := open(t, dir, store.Options{})
	l, crashed := openLedger(t, st)
	if len(crashed) != streams {
		t.Fatalf("%d calls crashed", len(crashed))
	}
	for i, c := range crashed {
		if want := (limits.Crash{Call: fmt.Sprintf("stream-%03d", i), At: noon.Add(time.Duration(i)), Amount: limits.Amount{Nano: reserved, Tokens: 2 * reserved}}); c != want {
			t.Fatalf("%+v, want %+v", c, want)
		}
	}
	spent := func(l *sqlite.Ledger) {
		t.Helper()
		balances, err := l.Status(t.Context(), noon, []limits.Subject{poor, landlord})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []int64{streams*reserved + 1, streams*reserved + 1, 2*streams*reserved + 1} {
			if balances[i].Spent != want || balances[i].Reserved != 0 {
				t.Errorf("%+v, want %d spent", balances[i], want)
			}
		}
	}
	spent(l)
	if err := st.Submit(pruned(noon.AddDate(50, 0, 0))); err != nil {
		t.Fatal(err)
	}
	st.Close()
	l, crashed = openLedger(t, open(t, dir, store.Options{}))
	if len(crashed) != 0 {
		t.Errorf("%d calls crashed twice", len(crashed))
	}
	spent(l)
}

// pruned runs the pruner as of a time until it has nothing left to do.
type pruned time.Time

func (pruned) Droppable() bool { return false }

func (p pruned) Apply(tx *store.Tx) error {
	for more := true; more; {
		var err error
		if more, err = sqlite.PruneLedger(func() time.Time { return time.Time(p) })(tx); err != nil {
			return err
		}
	}
	return nil
}

func TestOldPeriodsArePrunedAndNeverTheNewest(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		st := open(t, dir, store.Options{PruneInterval: time.Hour, Prune: []store.PruneFunc{sqlite.PruneLedger(func() time.Time { return noon.AddDate(0, 0, 1000) })}})
		l, _ := openLedger(t, st)
		both, dormant := budgeted(t, "key:a", "1usd/day", "1usd/total"), budgeted(t, "key:dormant", "1usd/month")
		for day := range 1000 {
			call := fmt.Sprint(day)
			subjects := []limits.Subject{both, dormant}
			if day > 40 {
				subjects = subjects[:1]
			}
			if _, err := l.Reserve(t.Context(), limits.ReserveRequest{Call: call, At: noon.AddDate(0, 0, day), Most: limits.Amount{Nano: 1}, Subjects: subjects}); err != nil {
				t.Fatal(err)
			}
			if err := l.Settle(t.Context(), call, limits.Amount{Nano: 1}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Hour + time.Minute)
		synctest.Wait()
		if n := count(t, st, "SELECT count(*) FROM ledger WHERE budget = 'usd/day'"); n != 400 {
			t.Errorf("%d days are left", n)
		}
		if n := count(t, st, "SELECT spent FROM ledger WHERE budget = 'usd/total'"); n != 1000 {
			t.Errorf("%d spent in total", n)
		}
		if rows := ledgerRows(t, st); len(rows) != 402 || !rows[401].begins.Equal(time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("%d rows, the last %+v", len(rows), rows[len(rows)-1])
		}
		st.Close()
	})
}

// Neither a clock that was set back nor a restart reopens an old period.
func TestRestartWithTheClockSetBackReopensNothing(t *testing.T) {
	dir := t.TempDir()
	key := budgeted(t, "key:a", "0.000000010usd/day")
	r := limits.ReserveRequest{Call: "1", At: noon, Most: limits.Amount{Nano: 8}, Subjects: []limits.Subject{key}}
	st := open(t, dir, store.Options{})
	l, _ := openLedger(t, st)
	if refusal, err := l.Reserve(t.Context(), r); refusal != nil || err != nil {
		t.Fatal(refusal, err)
	}
	if err := l.Settle(t.Context(), "1", limits.Amount{Nano: 8}); err != nil {
		t.Fatal(err)
	}
	st.Close()
	l, _ = openLedger(t, open(t, dir, store.Options{}))
	r.Call, r.At = "2", noon.AddDate(0, 0, -3)
	if refusal, err := l.Reserve(t.Context(), r); refusal == nil || refusal.Spent != 8 || err != nil {
		t.Errorf("three days back: %+v, %v", refusal, err)
	}
	r.Call, r.At = "3", noon.AddDate(0, 0, 1)
	if refusal, err := l.Reserve(t.Context(), r); refusal != nil || err != nil {
		t.Errorf("the next day: %+v, %v", refusal, err)
	}
}
