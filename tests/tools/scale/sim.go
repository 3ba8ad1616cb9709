package main

import (
	"container/heap"
	"math/rand/v2"
	"slices"
)

// simulation is a discrete-event simulation: a clock in seconds, and what happens next. The same seed
// gives the same run.
type simulation struct {
	now    float64
	events events
	number int
	random *rand.Rand
}

func newSimulation() *simulation { return &simulation{random: rand.New(rand.NewPCG(1, 1))} }

type event struct {
	at     float64
	number int // of two at the same time the one that was planned first happens first
	do     func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].number < e[j].number
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	(*e)[last] = event{}
	*e = (*e)[:last]
	return x
}

// after plans something.
func (s *simulation) after(d float64, do func()) {
	s.number++
	heap.Push(&s.events, event{s.now + d, s.number, do})
}

// run lets everything happen that is planned until a time.
func (s *simulation) run(until float64) {
	for len(s.events) > 0 && s.events[0].at <= until {
		e := heap.Pop(&s.events).(event)
		s.now = e.at
		e.do()
	}
	s.now = until
}

// slice is how long a core works for a process while others wait: the base slice of Linux 6.18 on
// two cores (kernel/sched/fair.c: 0.7 ms, scaled by the logarithm of the cores).
const slice = 0.0014

// station has the cores of a machine. A core that turns to a process wakes it up, which has its price, and
// then works for it until nothing waits there, or its slice is over and others wait. Without cores it has as
// many as are needed.
type station struct {
	sim       *simulation
	cores     []*core
	processes []*process
}

type core struct {
	process *process // nil: it rests
	since   float64
	working bool
}

// process is a program on the cores of a station.
type process struct {
	part    string
	station *station
	threads int     // 0: as many as there are cores
	wake    float64 // seconds
	queue   []job
	running int
	worked  float64 // seconds
}

type job struct {
	came, seconds float64
	then          func()
}

func (s *simulation) station(cores int) *station {
	st := &station{sim: s}
	for range cores {
		st.cores = append(st.cores, &core{})
	}
	return st
}

func (st *station) process(part string, threads int, wake float64) *process {
	p := &process{part: part, station: st, threads: threads, wake: wake}
	st.processes = append(st.processes, p)
	return p
}

// do has a process work, and calls then.
func (p *process) do(seconds float64, then func()) {
	if len(p.station.cores) == 0 {
		p.station.sim.after(seconds+p.wake, then)
		return
	}
	p.queue = append(p.queue, job{p.station.sim.now, seconds, then})
	for _, c := range p.station.cores {
		if !c.working && p.waits() {
			p.station.next(c)
		}
	}
}

// waits reports whether a core could work for the process.
func (p *process) waits() bool {
	return len(p.queue) > 0 && (p.threads == 0 || p.running < p.threads)
}

// next has a core do what is next, or rest.
func (st *station) next(c *core) {
	now, next := st.sim.now, c.process
	over := now-c.since >= slice
	if next == nil || !next.waits() || over {
		next = nil
		for _, p := range st.processes {
			if p.waits() && (next == nil || p != c.process && (next == c.process || p.queue[0].came < next.queue[0].came)) {
				next = p
			}
		}
	}
	if c.working = next != nil; !c.working {
		c.process = nil
		return
	}
	first := next.queue[0]
	next.queue = next.queue[1:]
	if next != c.process {
		first.seconds += next.wake
		c.process, c.since = next, now
	} else if over {
		c.since = now
	}
	seconds := min(first.seconds, slice)
	first.seconds -= seconds
	next.running++
	st.sim.after(seconds, func() {
		next.running--
		next.worked += seconds
		c.working = false
		if first.seconds > 0 {
			next.queue = slices.Insert(next.queue, 0, first)
		} else {
			first.then() // what it adds to this process is done without another wake-up
		}
		if !c.working {
			st.next(c)
		}
	})
}
