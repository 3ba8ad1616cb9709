package visitors_test

import (
	"net/netip"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/visitors"
)

// crowd enters n connections from addr and brings them to a stage.
func crowd(book *visitors.Book, addr netip.Addr, l visitors.Limits, s visitors.Stage, n int) (visits []*visitors.Visit) {
	for range n {
		visit := enter(book, addr, l)
		visit.Wait(s)
		visits = append(visits, visit)
	}
	return visits
}

// gaveWay are the places in line of those who had to give way.
func gaveWay(visits []*visitors.Visit) (places []int) {
	for i, v := range visits {
		if v.GaveWay() {
			places = append(places, i)
		}
	}
	return places
}

func TestHalfOpenConnectionsAreCapped(t *testing.T) {
	for _, test := range []struct {
		name     string
		limits   visitors.Limits
		distinct bool // each from a network of its own
		want     int
	}{
		{"in all", visitors.Limits{Pending: 7, PendingPerNetwork: 100}, true, 7},
		{"a network", visitors.Limits{Pending: 100, PendingPerNetwork: 5}, false, 5},
		{"in all, one network", visitors.Limits{Pending: 4, PendingPerNetwork: 5}, false, 4},
		{"in all, default", visitors.Limits{}, true, visitors.DefaultPending},
		{"a network, default", visitors.Limits{}, false, visitors.DefaultPendingPerNetwork},
	} {
		t.Run(test.name, func(t *testing.T) {
			book, _ := open()
			told := 0
			var visits []*visitors.Visit
			for n := range test.want + 10 {
				addr := ada
				if test.distinct {
					addr = numbered(n)
				}
				visits = append(visits, book.Enter(addr, test.limits, func() { told++ }))
			}
			out := gaveWay(visits)
			if len(out) != 10 || out[0] != 0 || out[9] != 9 || told != 10 || book.Pending() != test.want {
				t.Fatalf("%v gave way, %d were told, %d pending, want %d", out, told, book.Pending(), test.want)
			}
			visits[0].Leave() // it counts no more
			visits[len(visits)-1].Leave()
			visits[len(visits)-1].Leave()
			if book.Pending() != test.want-1 {
				t.Errorf("%d pending after one has left", book.Pending())
			}
		})
	}
}

// Ten addresses with 240 silent connections each; an eleventh comes in, and so do its neighbours.
func TestAFloodGivesWayToOthers(t *testing.T) {
	book, _ := open()
	var flood []*visitors.Visit
	for n := range 10 {
		flood = append(flood, crowd(book, numbered(n), visitors.Limits{}, visitors.Program, 240)...)
	}
	var good []*visitors.Visit
	for n := range 200 {
		good = append(good, enter(book, numbered(100+n), visitors.Limits{}))
	}
	if out := gaveWay(good); len(out) > 0 {
		t.Errorf("%d good ones gave way", len(out))
	}
	if out := gaveWay(flood); len(out) != 2400-visitors.DefaultPending+200 {
		t.Errorf("%d of the flood gave way", len(out))
	}
}

func TestWhoGivesWay(t *testing.T) {
	limits := visitors.Limits{Pending: 12, PendingPerNetwork: 10}
	type group struct {
		addr  netip.Addr
		stage visitors.Stage
		n     int
	}
	for _, test := range []struct {
		name   string
		groups []group
		comes  netip.Addr
		want   [2]int // which of which group; -1: nobody
	}{
		{"the oldest of the fullest network", []group{{ada, visitors.Program, 5}, {bob, visitors.Program, 7}}, ada6, [2]int{1, 0}},
		{"of two that are as full, the oldest", []group{{bob, visitors.Program, 6}, {ada, visitors.Program, 6}}, ada6, [2]int{0, 0}},
		{"not where a person may be typing", []group{{ada, visitors.Person, 7}, {bob, visitors.Program, 5}}, ada6, [2]int{1, 0}},
		{"a person in the end", []group{{ada, visitors.Person, 9}, {bob, visitors.Admitted, 3}}, ada6, [2]int{0, 0}},
		{"a person rather than the only one of a network", []group{{ada, visitors.Person, 9}, {bob, visitors.Person, 2}, {ada6, visitors.Program, 1}}, numbered(1), [2]int{0, 0}},
		{"of the network whose limit it is", []group{{ada, visitors.Person, 10}, {bob, visitors.Program, 2}}, ada, [2]int{0, 0}},
		{"there too, not where a person may be typing", []group{{ada, visitors.Person, 9}, {ada, visitors.Program, 1}}, ada, [2]int{1, 0}},
		{"nobody with a good token", []group{{ada, visitors.Admitted, 9}, {bob, visitors.Admitted, 3}}, ada6, [2]int{-1, -1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			book, _ := open()
			var groups [][]*visitors.Visit
			for _, g := range test.groups {
				groups = append(groups, crowd(book, g.addr, limits, g.stage, g.n))
			}
			newcomer := enter(book, test.comes, limits)
			got := [2]int{-1, -1}
			for i, visits := range groups {
				if out := gaveWay(visits); len(out) > 0 {
					got = [2]int{i, out[0]}
				}
			}
			if got != test.want || newcomer.GaveWay() || newcomer.Crowded != (test.want[0] < 0) {
				t.Errorf("%v gave way, want %v; the newcomer is to be refused: %v", got, test.want, newcomer.Crowded)
			}
		})
	}
}

// Where nobody can give way newcomers are refused in words: a few at a time, of which again the oldest gives way.
func TestOnlyAFewAreRefusedBeyondTheLimit(t *testing.T) {
	book, _ := open()
	limits := visitors.Limits{Pending: 4}
	good := crowd(book, ada, limits, visitors.Admitted, 4)
	refused := crowd(book, bob, limits, visitors.Program, visitors.Reserve+3)
	if out := gaveWay(refused); len(out) != 3 || out[2] != 2 || len(gaveWay(good)) > 0 || book.Pending() != 4+visitors.Reserve {
		t.Errorf("%v gave way, %d pending", out, book.Pending())
	}
	for i, v := range refused {
		if !v.Crowded {
			t.Errorf("number %d is let in", i)
		}
		v.Leave()
	}
	good[0].Leave()
	if next := enter(book, bob, limits); next.Crowded {
		t.Error("nobody is let in after one has left")
	}
}

func TestAStageIsNotTakenBack(t *testing.T) {
	book, _ := open()
	limits := visitors.Limits{PendingPerNetwork: 1}
	out := enter(book, ada, limits)
	in := enter(book, ada, limits)
	if out.Wait(visitors.Admitted) || !in.Wait(visitors.Admitted) {
		t.Error("the one that gave way is let in")
	}
	in.Wait(visitors.Program)
	if next := enter(book, ada, limits); in.GaveWay() || !next.Crowded {
		t.Error("a good one gave way")
	}
}
