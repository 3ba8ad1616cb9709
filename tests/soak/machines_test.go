package soak

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// fleet is workstations of two control planes whose machines come, move and go at a few addresses.
type fleet struct {
	t       *testing.T
	h       *harness.Gateway
	places  []*harness.Place
	names   []*fleetName
	byName  map[string]*fleetName
	over    atomic.Bool
	changes atomic.Int64

	mu   sync.Mutex     // guards the following
	seen map[string]int // what viewers saw, by kind
}

// fleetName is one workstation. Its control plane makes one change after the other.
type fleetName struct {
	name, source string
	begun        atomic.Int64 // the number of the latest machine for which a request was begun
	done         atomic.Int64 // the number of the latest one for which a request was answered
	place        *harness.Place
	released     bool
}

func machineOf(n int64) string { return fmt.Sprint("vm-", n) }

const fleetVNC = `register_networks 127.0.0.1/32
	max_registered 20000
	connect_within 10s
	credential vm {
		derive {env.MACHINE_ROOT}
	}
`

// Addresses of the network are used by one machine after the other, and names by one machine after the
// other. A viewer sees a machine of the name that its address was issued for, and none that came after
// it, or nothing.
func TestMachinesComeAndGo(t *testing.T) {
	names, places, viewers, during := 300, 40, 8, 3*time.Second
	if soakIsLong() {
		names, places, viewers, during = 10_000, 400, 100, *soakTime/4
	}
	t.Setenv("MACHINE_ROOT", harness.MachineRoot)
	f := &fleet{t: t, seen: map[string]int{}, byName: map[string]*fleetName{}, h: harness.StartVNC(t, harness.Setup{VNC: fleetVNC})}
	for range places {
		f.places = append(f.places, harness.NewPlace(t))
	}
	for i := range names {
		n := &fleetName{name: fmt.Sprint("run", i), source: []string{"ctl-a", "ctl-b"}[i%2]}
		f.names, f.byName[n.name] = append(f.names, n), n
	}
	for _, source := range []string{"ctl-a", "ctl-b"} {
		began := time.Now()
		f.sync(source, rand.New(rand.NewPCG(*soakSeed, 0)), f.of(source), true)
		t.Logf("%s has registered %d workstations in %v", source, names/2, time.Since(began))
	}
	var all sync.WaitGroup
	for i, source := range []string{"ctl-a", "ctl-b"} {
		all.Go(func() { f.control(source, rand.New(rand.NewPCG(*soakSeed, uint64(1+i)))) })
	}
	for i := range viewers {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(*soakSeed, uint64(10+i)))
			for !f.over.Load() {
				n := f.names[rng.IntN(len(f.names))]
				if at := f.byName[f.places[rng.IntN(len(f.places))].Runs()]; at != nil && rng.IntN(4) > 0 {
					n = at // the others are at addresses that others have by now
				}
				f.view(n, rng)
			}
		})
	}
	<-time.After(during)
	f.over.Store(true)
	all.Wait()
	f.h.VNC.WaitClosed()
	t.Logf("%d changes; viewers: %v", f.changes.Load(), f.seen)
	for _, kind := range []string{"a desktop", "ended by a change", "wrong password"} {
		if f.seen[kind] == 0 {
			t.Errorf("nobody saw %q", kind)
		}
	}
}

// of are the workstations of a control plane.
func (f *fleet) of(source string) (names []*fleetName) {
	for _, n := range f.names {
		if n.source == source {
			names = append(names, n)
		}
	}
	return names
}

// control is a control plane: it starts, moves and releases its machines.
func (f *fleet) control(source string, rng *rand.Rand) {
	mine := f.of(source)
	for !f.over.Load() {
		n := mine[rng.IntN(len(mine))]
		switch what := rng.IntN(20); {
		case what < 9:
			f.put(n, rng, 1)
		case what < 13 && !n.released:
			f.put(n, rng, 0)
		case what < 16 && !n.released:
			f.release(n)
		case what < 19:
			f.sync(source, rng, []*fleetName{n, mine[rng.IntN(len(mine))], mine[rng.IntN(len(mine))]}, false)
		default:
			f.sync(source, rng, slices.DeleteFunc(slices.Clone(mine), func(n *fleetName) bool { return n.released }), true)
		}
		f.changes.Add(1)
	}
}

// boot has the next machine of a workstation run somewhere, or (more = 0) the same elsewhere. What ran
// there is gone, whatever the gateway knows.
func (f *fleet) boot(n *fleetName, rng *rand.Rand, more int64) (item string) {
	n.place = f.places[rng.IntN(len(f.places))]
	machine := n.begun.Add(more)
	n.place.Boot(n.name, machineOf(machine))
	return fmt.Sprintf(`"address":%q,"credential":"vm","generation":%q`, n.place.Address(), machineOf(machine))
}

func (f *fleet) put(n *fleetName, rng *rand.Rand, more int64) {
	item := f.boot(n, rng, more)
	f.call(http.MethodPut, "/v1/workstations/"+n.name, `{"source":"`+n.source+`",`+item+`}`, nil)
	n.done.Store(n.begun.Load())
	n.released = false
}

func (f *fleet) release(n *fleetName) {
	path := "/v1/workstations/" + n.name + "?generation="
	if status := f.call(http.MethodDelete, path+machineOf(n.begun.Load()-1), "", nil); status != http.StatusConflict {
		f.t.Errorf("a late release of %s: %d", n.name, status)
	}
	f.call(http.MethodDelete, path+machineOf(n.begun.Load()), "", nil)
	n.released = true
}

// sync sends a list. A complete one repeats what is there, a part of it has new machines.
func (f *fleet) sync(source string, rng *rand.Rand, names []*fleetName, complete bool) {
	slices.SortFunc(names, func(a, b *fleetName) int { return strings.Compare(a.name, b.name) })
	names = slices.Compact(names)
	var items []string
	for _, n := range names {
		var item string
		if machine := n.begun.Load(); complete && machine > 0 {
			item = fmt.Sprintf(`"address":%q,"credential":"vm","generation":%q`, n.place.Address(), machineOf(machine))
		} else {
			item = f.boot(n, rng, 1)
		}
		items = append(items, fmt.Sprintf(`{"workstation_id":%q,%s}`, n.name, item))
	}
	var answer struct{ Refused []any }
	f.call(http.MethodPost, "/v1/workstations/sync", fmt.Sprintf(`{"source":%q,"complete":%v,"items":[%s]}`, source, complete, strings.Join(items, ",")), &answer)
	if len(answer.Refused) > 0 {
		f.t.Errorf("refused: %v", answer.Refused)
	}
	for _, n := range names {
		n.done.Store(n.begun.Load())
		n.released = false
	}
}

// call makes a request of a control plane.
func (f *fleet) call(method, path, body string, answer any) (status int) {
	r := f.h.Client.Request(path, "manage", body)
	r.Method = method
	status, text, err := f.h.Client.Try(r)
	if err != nil || status >= 300 && status != http.StatusConflict {
		f.t.Errorf("%s %s: %d %s, %v", method, path, status, text, err)
	} else if answer != nil {
		err = json.Unmarshal(text, answer)
	}
	if err != nil {
		f.t.Error(err)
	}
	return status
}

// view opens a workstation and looks which machine it is.
func (f *fleet) view(n *fleetName, rng *rand.Rand) {
	least := n.done.Load()
	status, text, err := f.h.Client.Try(f.h.Client.Request("/v1/workstations/"+n.name+"/vnc", "connect", `{"shared":true}`))
	most := n.begun.Load()
	var issued struct {
		URL string `json:"vnc_url"`
	}
	if err != nil || status != http.StatusOK || json.Unmarshal(text, &issued) != nil {
		f.count("no address")
		return
	}
	for range rng.IntN(3) { // it may be used late
		f.count(f.look(n, harness.ParseAddress(issued.URL).Host, least, most))
	}
}

// look says what a viewer saw.
func (f *fleet) look(n *fleetName, host string, least, most int64) string {
	w := f.h.VNC.TLSFirstFrom("", host)
	defer w.Leave()
	shown, refusal := w.ShownOrRefused()
	switch {
	case strings.Contains(refusal, "password"):
		return "wrong password"
	case strings.Contains(refusal, "released"):
		return "released"
	case refusal != "":
		return "refused"
	case w.Err != nil:
		return "nothing"
	}
	name, machine, _ := strings.Cut(shown, " vm-")
	number, err := strconv.ParseInt(machine, 10, 64)
	if err != nil || name != n.name || number < least || number > most {
		f.t.Errorf("a viewer of %s, machines %d to %d, sees %q", n.name, least, most, shown)
	}
	for range 50 {
		late := n.done.Load() > number
		if w.Echo(1, 1); w.Err != nil {
			return "ended by a change"
		}
		if late && !harness.EndsWithin(w, time.Second) {
			f.t.Errorf("a session at %s is open after the answer for another machine", shown)
		}
	}
	return "a desktop"
}

func (f *fleet) count(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen[what]++
}
