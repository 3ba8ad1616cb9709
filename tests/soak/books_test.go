package soak

import (
	"database/sql"
	"fmt"
	"maps"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// checkIdle waits until no call holds anything. Clients that have disconnected are noticed a moment
// later, and drained.
func (s *soak) checkIdle(when string) {
	s.t.Helper()
	requests := s.gateway().Requests()
	var held []string
	if !harness.Eventually(func() bool {
		held = nil
		if n := requests.Uploads.Memory.Used(); n != 0 {
			held = append(held, fmt.Sprintf("%d bytes of bodies", n))
		}
		for _, b := range harness.Balances(s.t) {
			if b.Reserved != 0 {
				held = append(held, fmt.Sprintf("%s has %d reserved of %s", b.Subject, b.Reserved, b.Budget))
			}
			if inside, waiting := requests.Concurrency.InUse(b.Subject); inside+waiting != 0 {
				held = append(held, fmt.Sprintf("%s has %d calls under way and %d waiting", b.Subject, inside, waiting))
			}
		}
		if inside, waiting := requests.Concurrency.InUse("model:metered/*"); inside+waiting != 0 {
			held = append(held, fmt.Sprintf("the model has %d calls under way and %d waiting", inside, waiting))
		}
		return held == nil
	}) {
		s.faults.add("%s: %s", when, strings.Join(held, "; "))
	}
	if calls := rowsOf(s, "requests_in_flight"); calls != 0 {
		s.faults.add("%s: %v calls under way", when, calls)
	}
	if lost := rowsOf(s, "activity_rows_lost_total"); lost != 0 {
		s.faults.add("%s: %v records were lost", when, lost)
	}
}

// rowsOf is the value of one of the gateway's metrics without labels.
func rowsOf(s *soak, name string) float64 {
	s.t.Helper()
	for line := range strings.Lines(string(s.h.Client.Get("/metrics", "").Body)) {
		if rest, ok := strings.CutPrefix(line, "gatehouse_"+name+" "); ok {
			if v, err := strconv.ParseFloat(strings.TrimSpace(rest), 64); err == nil {
				return v
			}
		}
	}
	s.t.Fatal("no metric " + name)
	return 0
}

// checkBalances compares every balance of the ledger with the sum of the records.
func (s *soak) checkBalances(when string) {
	s.t.Helper()
	checked := 0
	for _, b := range harness.Balances(s.t) {
		checked++
		sum := s.rows.sums[b.Subject]
		want := sum.tokens
		if b.Budget.Unit == limits.Money {
			want = sum.nano
		}
		if b.Spent != want {
			s.faults.add("%s: %s, %s: the ledger says %d, the records %d: %+d", when, b.Subject, b.Budget, b.Spent, want, b.Spent-want)
		}
	}
	if want := 2*(len(soakKeys)+len(soakTenants)+1) - 1; checked != want {
		s.faults.add("%s: %d balances, want %d", when, checked, want)
	}
}

// checkNotes compares how often each call arrived with its records.
func (s *soak) checkNotes() {
	for n := range min(int(s.next.Load()), len(s.notes)) {
		note := &s.notes[n]
		if note.kind < 0 {
			continue
		}
		kind, seen := &s.kinds[note.kind], note.seen.Load()
		want := int(seen & 0xff)
		if kind.noRow || note.word == "shutting_down" && note.rows == 0 { // that one was not admitted
			want = 0
		}
		if int(note.rows) != want {
			s.faults.add("%s, call %d: came in %d times, has %d records; the client saw %s %d %q", kind.name, n, want, note.rows, soakEndNames[note.end], note.status, note.word)
		}
		if (note.end == endNone || note.end == endCut) && !note.left && seen&(seenPanicked|0xff) > 0 && seen&seenPanicked == 0 {
			s.faults.add("%s, call %d came in and was left without an answer: %s %d", kind.name, n, soakEndNames[note.end], note.status)
		}
	}
}

// checkDisk stops Caddy and checks the file: no reservation, and the ledger as before.
func (s *soak) checkDisk() {
	s.t.Helper()
	want := map[string]int64{}
	for _, b := range harness.Balances(s.t) {
		if b.Spent > 0 {
			want[b.Subject+" "+b.Budget.Unit.String()] = b.Spent
		}
	}
	s.h.Stop()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(s.h.Dir, "data", "gatehouse.db")+"?mode=ro")
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	var holds, left int
	if err := db.QueryRow("SELECT (SELECT count(*) FROM hold), (SELECT count(*) FROM activity WHERE tenant <> '"+soakDesktops+"')").Scan(&holds, &left); err != nil {
		s.t.Fatal(err)
	}
	if holds != 0 {
		s.faults.add("%d holds in the database", holds)
	}
	s.t.Logf("%d records of %d are in the database, the others pruned", left, s.rows.n)
	if left > s.rows.n || *soakTime >= 3*time.Minute && left == s.rows.n {
		s.faults.add("%d records in the database, %d were read: nothing was pruned, or not all was read", left, s.rows.n)
	}
	rows, err := db.Query("SELECT subject, budget, sum(spent) FROM ledger GROUP BY subject, budget")
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	got := map[string]int64{}
	for rows.Next() {
		var subject, budget string
		var spent int64
		if err := rows.Scan(&subject, &budget, &spent); err != nil {
			s.t.Fatal(err)
		}
		unit, _, _ := strings.Cut(budget, "/")
		got[subject+" "+unit] = spent
	}
	if err := rows.Err(); err != nil {
		s.t.Fatal(err)
	}
	if !maps.Equal(got, want) {
		s.faults.add("the ledger on disk %v, in memory %v", got, want)
	}
}
