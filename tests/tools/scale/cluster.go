package main

import (
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// What the code does in groups: internal/queue (rows), internal/limits/valkey (settlements),
// internal/cluster (beats).
const (
	rowsWait     = 0.050 // seconds that the first row of a transaction waits for others
	rowsGroup    = 500   // rows that do not wait, and the most of a transaction
	settleWait   = 0.005 // seconds between two messages of settlements
	settleGroup  = 64    // settlements of a message, at most
	beatInterval = 2.0   // seconds
)

// plan is what is simulated.
type plan struct {
	gateways int
	alone    bool              // without engines
	cores    map[string]string // as in a run; parts of the same cores share them
	conns    int               // of clients that call again at once; 0: calls arrive at the rate
	rate     float64
	trip     float64 // seconds of a round trip between hosts
	threads  int     // of a gateway, its client and provider; 0: as many as there are cores
	sync     float64 // seconds that the disk of PostgreSQL takes for a commit
	seconds  float64 // that count
}

// outcome is what the simulation says.
type outcome struct {
	rate     float64            // calls a second
	p50, p99 float64            // seconds
	wall     string             // the cores that are used most, and by whom
	used     float64            // of them
	worked   map[string]float64 // cores, by part
	messages float64            // to the engine, a call
	commits  float64            // a second
}

// cluster is a plan at work.
type cluster struct {
	sim      *simulation
	plan     plan
	costs    costs
	stations map[string]*station
	at       map[string]*process
	gateways []*gateway
	budget   bool     // the row of a budget that all calls share is locked
	waiting  []func() // for that
	took     []float64
	asked    int // messages to the engine
	commits  int
}

type gateway struct {
	*process
	settlements, rows int
	sending, writing  bool
	sent              float64 // when the last message of settlements began
}

func newCluster(p plan, k costs) *cluster {
	c := &cluster{sim: newSimulation(), plan: p, costs: k, stations: map[string]*station{}, at: map[string]*process{}}
	on := func(part, name string, threads int, wake float64) *process {
		list := p.cores[name]
		if c.stations[list] == nil {
			c.stations[list] = c.sim.station(cores(list))
		}
		return c.stations[list].process(part, threads, wake)
	}
	c.at[clientPart] = on(clientPart, clientPart, p.threads, k.client.wake/2)
	c.at[providerPart] = on(providerPart, providerPart, p.threads, k.provider.wake)
	if !p.alone {
		c.at[enginePart] = on(enginePart, enginePart, 1, k.message.wake)
		c.at[postgresPart] = on(postgresPart, postgresPart, 0, 0)
	}
	for i := range p.gateways {
		g := on(gatewayPart, gatewayPart+strconv.Itoa(i+1), p.threads, k.gateway.wake/float64(2+k.messages))
		c.gateways = append(c.gateways, &gateway{process: g, sent: -settleWait})
	}
	return c
}

// elsewhere has as many cores as are needed.
const elsewhere = "elsewhere"

// cores counts those of a list, "0" or "0-1"; a name of a host and a colon may be before it.
func cores(list string) int {
	if list == elsewhere {
		return 0
	}
	list = list[strings.LastIndex(list, ":")+1:]
	first, last, several := strings.Cut(list, "-")
	if !several {
		return 1
	}
	from, _ := strconv.Atoi(first)
	to, _ := strconv.Atoi(last)
	return to - from + 1
}

// call is a call from its client and back: to its gateway, from there to the engine and back for each
// message, to the provider and back.
func (c *cluster) call(g *gateway, done func()) {
	began := c.sim.now
	client, visit := c.costs.client.among/2, c.costs.gateway.among/float64(2+c.costs.messages)
	end := func() {
		g.do(visit, func() {
			c.ended(g)
			c.at[clientPart].do(client, func() {
				c.took = append(c.took, c.sim.now-began)
				done()
			})
		})
	}
	var visits func(left int)
	visits = func(left int) {
		g.do(visit, func() {
			if left == 0 {
				c.at[providerPart].do(c.costs.provider.among, end)
				return
			}
			c.ask(func() { visits(left - 1) })
		})
	}
	c.at[clientPart].do(client, func() { visits(c.costs.messages) })
}

// ask is a message to the engine, with its answer.
func (c *cluster) ask(then func()) {
	c.asked++
	c.sim.after(c.plan.trip, func() { c.at[enginePart].do(c.costs.message.among, then) })
}

// ended is what follows a call, without anybody who waits.
func (c *cluster) ended(g *gateway) {
	if c.plan.alone {
		return
	}
	if g.rows++; g.rows == 1 && !g.writing {
		c.sim.after(rowsWait, func() { c.write(g) })
	} else if g.rows == rowsGroup {
		c.write(g)
	}
	if c.costs.messages > 0 {
		g.settlements++
		c.settleOf(g)
	}
}

// settleOf sends settlements: one message at a time, and not too often.
func (c *cluster) settleOf(g *gateway) {
	if g.sending || g.settlements == 0 {
		return
	}
	g.sending = true
	c.sim.after(max(0, g.sent+settleWait-c.sim.now), func() {
		g.sent = c.sim.now
		g.settlements -= min(g.settlements, settleGroup)
		c.ask(func() {
			g.sending = false
			c.settleOf(g)
		})
	})
}

// write writes rows: one transaction at a time.
func (c *cluster) write(g *gateway) {
	if g.writing || g.rows == 0 {
		return
	}
	n := min(g.rows, rowsGroup)
	g.rows -= n
	g.writing = true
	c.commits++
	c.at[postgresPart].do(c.costs.commit+float64(n)*c.costs.row, func() {
		c.lock(func() {
			c.sim.after(c.plan.sync+c.plan.trip, func() {
				c.unlock()
				g.writing = false
				if g.rows >= rowsGroup {
					c.write(g)
				} else if g.rows > 0 {
					c.sim.after(rowsWait, func() { c.write(g) })
				}
			})
		})
	})
}

// lock locks the row of the budget until the end of the transaction. All calls of a mix with limits share
// one.
func (c *cluster) lock(then func()) {
	if c.budget && c.costs.messages > 0 {
		c.waiting = append(c.waiting, then)
		return
	}
	c.budget = true
	then()
}

func (c *cluster) unlock() {
	if c.budget = len(c.waiting) > 0; c.budget {
		next := c.waiting[0]
		c.waiting = c.waiting[1:]
		next()
	}
}

// alive is what a gateway does without calls.
func (c *cluster) alive(g *gateway) {
	nothing := func() {}
	g.do(c.costs.idle[gatewayPart]*beatInterval, nothing)
	if !c.plan.alone {
		c.at[enginePart].do(c.costs.idle[enginePart]*beatInterval, nothing)
		c.at[postgresPart].do(c.costs.idle[postgresPart]*beatInterval, nothing)
	}
	c.sim.after(beatInterval, func() { c.alive(g) })
}

// simulate runs a plan, a quarter of its time without counting.
func simulate(p plan, k costs) outcome {
	c := newCluster(p, k)
	for _, g := range c.gateways {
		c.sim.after(c.sim.random.Float64()*beatInterval, func() { c.alive(g) })
	}
	for i := range p.conns {
		g := c.gateways[i%len(c.gateways)]
		var again func()
		again = func() { c.call(g, again) }
		c.sim.after(0, again)
	}
	if p.conns == 0 {
		n := 0
		var next func()
		next = func() {
			c.call(c.gateways[n%len(c.gateways)], func() {})
			n++
			c.sim.after(c.sim.random.ExpFloat64()/p.rate, next)
		}
		c.sim.after(0, next)
	}
	c.sim.run(p.seconds / 4)
	c.took, c.asked, c.commits = nil, 0, 0
	for _, st := range c.stations {
		for _, p := range st.processes {
			p.worked = 0
		}
	}
	c.sim.run(p.seconds / 4 * 5)
	return c.outcome()
}

func (c *cluster) outcome() outcome {
	o := outcome{rate: float64(len(c.took)) / c.plan.seconds, worked: map[string]float64{}}
	sort.Float64s(c.took)
	if n := len(c.took); n > 0 {
		o.p50, o.p99 = c.took[n/2], c.took[n*99/100]
		o.messages, o.commits = float64(c.asked)/float64(n), float64(c.commits)/c.plan.seconds
	}
	for _, list := range slices.Sorted(maps.Keys(c.stations)) {
		st := c.stations[list]
		used, most := 0.0, st.processes[0]
		for _, p := range st.processes {
			o.worked[p.part] += p.worked / c.plan.seconds
			if used += p.worked / c.plan.seconds / float64(max(1, len(st.cores))); p.worked > most.worked {
				most = p
			}
		}
		if used > o.used {
			o.used, o.wall = used, most.part
		}
	}
	if used := o.worked[enginePart]; used > o.used { // its one thread
		o.used, o.wall = used, enginePart
	}
	return o
}
