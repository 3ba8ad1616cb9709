package main

import (
	"math"
	"testing"
)

func near(t *testing.T, what string, got, want, part float64) {
	t.Helper()
	if math.Abs(got-want) > part*math.Abs(want) {
		t.Errorf("%s is %g, want %g", what, got, want)
	}
}

// apart has each part on a core of its own.
func apart(gateways int) map[string]string {
	at := map[string]string{enginePart: "engine:0", postgresPart: "postgres:0", providerPart: "provider:0", clientPart: "client:0"}
	for i, name := range []string{"gateway1", "gateway2", "gateway3"}[:gateways] {
		at[name] = string(rune('a'+i)) + ":0"
	}
	return at
}

var (
	onlyWork = costs{gateway: work{among: 100e-6}, provider: work{among: 30e-6}, client: work{among: 20e-6}}
	limited  = costs{gateway: work{among: 100e-6}, provider: work{among: 30e-6}, client: work{among: 20e-6},
		message: work{among: 25e-6}, messages: 2, row: 5e-6, commit: 1e-3}
)

func TestOneCallAtATimeTakesTheSumOfAllCosts(t *testing.T) {
	o := simulate(plan{gateways: 1, alone: true, cores: apart(1), conns: 1, seconds: 1}, onlyWork)
	near(t, "the rate", o.rate, 1/150e-6, 0.001)
	near(t, "the time of a call", o.p50, 150e-6, 0.001)
	near(t, "the gateway's use", o.worked[gatewayPart], 100.0/150, 0.001)
}

func TestSaturationIsTheWorkOfTheDearestPart(t *testing.T) {
	for _, c := range []struct {
		name  string
		costs func(*costs)
		rate  float64
		wall  string
	}{
		{"gateway", func(*costs) {}, 1 / 100e-6, gatewayPart},
		{"engine", func(k *costs) { k.message.among = 100e-6 }, 1 / 206e-6, enginePart},
		{"provider", func(k *costs) { k.provider.among = 400e-6 }, 1 / 400e-6, providerPart},
		{"client", func(k *costs) { k.client.among = 500e-6 }, 1 / 500e-6, clientPart},
	} {
		k := limited
		c.costs(&k)
		o := simulate(plan{gateways: 1, cores: apart(1), conns: 64, seconds: 2}, k)
		near(t, c.name+": the rate", o.rate, c.rate, 0.02)
		if o.wall != c.wall {
			t.Errorf("%s: the wall is %s at %.2f", c.name, o.wall, o.used)
		}
	}
}

func TestPartsThatShareACoreAddUp(t *testing.T) {
	at := apart(1)
	at[providerPart], at["gateway1"] = "one:0", "one:0"
	o := simulate(plan{gateways: 1, alone: true, cores: at, conns: 64, seconds: 1}, onlyWork)
	near(t, "the rate on one core", o.rate, 1/130e-6, 0.01)
	at[providerPart], at["gateway1"] = "one:0-1", "one:0-1"
	o = simulate(plan{gateways: 1, alone: true, cores: at, conns: 64, seconds: 1}, onlyWork)
	near(t, "the rate on two", o.rate, 2/130e-6, 0.02)
}

func TestTheEngineHasOneThread(t *testing.T) {
	at := apart(1)
	at[enginePart] = "engine:0-3"
	k := limited
	k.message.among = 200e-6
	o := simulate(plan{gateways: 1, cores: at, conns: 64, seconds: 1}, k)
	near(t, "the rate", o.rate, 1/400e-6, 0.06) // but for settlements
	if o.wall != enginePart {
		t.Errorf("the wall is %s", o.wall)
	}
}

func TestUseIsTheRateTimesTheCost(t *testing.T) {
	o := simulate(plan{gateways: 2, cores: apart(2), rate: 4000, seconds: 4}, limited)
	near(t, "the rate", o.rate, 4000, 0.02)
	near(t, "the gateways", o.worked[gatewayPart], 4000*100e-6, 0.03)
	near(t, "the rows", o.worked[postgresPart], 4000*5e-6+o.commits*1e-3, 0.03)
}

// The mean wait of random arrivals at one server that always takes as long (Pollaczek and Khinchine).
func TestRandomArrivalsWaitAsLongAsTheFormulaSays(t *testing.T) {
	const service, part = 1e-3, 0.5
	s := newSimulation()
	p := s.station(1).process("server", 0, 0)
	var total float64
	n := 0
	var arrive func()
	arrive = func() {
		came := s.now
		p.do(service, func() { total, n = total+s.now-came-service, n+1 })
		s.after(s.random.ExpFloat64()*service/part, arrive)
	}
	s.after(0, arrive)
	s.run(400)
	near(t, "the mean wait", total/float64(n), part*service/(2*(1-part)), 0.03)
}

func TestAWakeUpIsPaidOncePerTurn(t *testing.T) {
	const work, wake = 10e-6, 100e-6
	s := newSimulation()
	st := s.station(1)
	a, b := st.process("a", 0, wake), st.process("b", 0, wake)
	for range 5 {
		a.do(work, func() {})
		b.do(work, func() {})
	}
	s.run(1)
	near(t, "five calls of a process", a.worked, wake+5*work, 0.001)
	near(t, "five of the other", b.worked, wake+5*work, 0.001)
	for range 1000 {
		a.do(work, func() {})
		b.do(work, func() {})
	}
	s.run(2)
	turns := math.Ceil(1000 * work / (slice - wake))
	near(t, "a thousand calls, in turns of a slice", a.worked, wake+5*work+1000*work+turns*wake, 0.001)
}

func TestLongWorkIsInterruptedAfterItsSlice(t *testing.T) {
	s := newSimulation()
	st := s.station(1)
	long, short := st.process("long", 0, 0), st.process("short", 0, 0)
	var ended, answered float64
	long.do(10*slice, func() { ended = s.now })
	s.after(slice/2, func() { short.do(slice/10, func() { answered = s.now }) })
	s.run(1)
	near(t, "the end of the short one", answered, slice*1.1, 0.001)
	near(t, "the end of the long one", ended, slice*10.1, 0.001)
}

func TestSettlementsAndRowsGoInGroups(t *testing.T) {
	k := limited
	k.gateway.among = 10e-6
	for _, c := range []struct {
		gateways int
		rate     float64
	}{{1, 20}, {1, 100}, {1, 4000}, {3, 4000}, {1, 9000}} {
		o := simulate(plan{gateways: c.gateways, cores: apart(c.gateways), rate: c.rate, seconds: 10}, k)
		// A message follows the last one after 5 ms, or with the first call after that; a transaction the
		// last one 50 ms after the next call. Calls come at random.
		n := float64(c.gateways)
		apart := n / c.rate
		sent := n / (settleWait + apart*math.Exp(-settleWait/apart))
		near(t, "messages a call", o.messages, 2+sent/c.rate, 0.01)
		near(t, "transactions a second", o.commits, n/(rowsWait+apart), 0.06)
	}
}

func TestABudgetOfAllLetsOneTransactionAtATimeThrough(t *testing.T) {
	const sync = 0.04
	p := plan{gateways: 3, cores: apart(3), rate: 3000, sync: sync, seconds: 5}
	near(t, "transactions a second", simulate(p, limited).commits, 1/sync, 0.02)
	free := limited
	free.messages = 0
	near(t, "those of calls without limits", simulate(p, free).commits, 3/(rowsWait+sync), 0.05)
}

func TestTheSameSeedGivesTheSameRun(t *testing.T) {
	p := plan{gateways: 3, cores: apart(3), rate: 3000, seconds: 1}
	a, b := simulate(p, limited), simulate(p, limited)
	if a.rate != b.rate || a.p99 != b.p99 || a.messages != b.messages {
		t.Errorf("%+v, then %+v", a, b)
	}
}
