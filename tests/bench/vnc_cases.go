//go:build linux

package main

import (
	"fmt"
	"time"
)

// maxSessions is less than the gateway allows by default (1,000), including the warm-up.
const maxSessions = 900

// vncLoad is how a VNC case loads a server.
type vncLoad int

const (
	bulk vncLoad = iota // frames at full speed through one session
	// pointer moves the pointer when the last move was answered. With the pauses of a hand, most of
	// the time would be the machine's waking up: too unsteady for a bound of a twentieth.
	pointer
	connect // sessions that end at ServerInit
	resting // sessions that stay open and silent
)

// vncCase is one row of the VNC report.
type vncCase struct {
	name     string
	unit     string  // what CPU is counted for
	units    float64 // of them in one call
	load     vncLoad
	metric   metric
	goal     goal
	viewers  int
	vencrypt bool // at the gateway; the others begin with TLS, which costs less
}

const (
	// framesPerCall makes the pause between two calls, one round trip, a small part of the
	// transfer, and keeps a call short compared with a slice.
	framesPerCall = 4
	// bulkViewers is one; it keeps two cores busy.
	bulkViewers = 1
	// connectViewers keep the server busy while each waits for its handshake.
	connectViewers = 4
	// vncSlice is how long a server is loaded before the next one is.
	vncSlice = 250 * time.Millisecond
	megabyte = 1e6 // decimal units: us a MB are ms a GB
)

// allVNCCases are the rows of make bench, with the goals of the project for the ratio gateway /
// caddy-l4's tls and proxy.
func allVNCCases() []vncCase {
	gigabyte := vncCase{name: "vnc-bulk", unit: "MB", units: framesPerCall * frameLen / megabyte, load: bulk,
		metric: cpuPerOp, viewers: bulkViewers}
	inside := gigabyte
	inside.name, inside.vencrypt = "vnc-bulk-vencrypt", true
	return []vncCase{
		gigabyte,
		inside,
		{name: "vnc-pointer", unit: "event", units: 1, load: pointer, metric: tripP50, goal: goal{1.05, 0.95}, viewers: 1},
		{name: "vnc-connect", unit: "connect", units: 1, load: connect, metric: cpuPerOp, goal: goal{1.15, 1.0}, viewers: connectViewers},
		{name: "vnc-idle", unit: "session", units: 1, load: resting, metric: kibPerOne, goal: goal{0.45, 0.40}},
	}
}

// row is the row of the case.
func (c vncCase) row() row {
	return row{name: c.name, unit: c.unit, metric: c.metric, goal: c.goal, value: func(f map[role]figures) float64 {
		value := func(which role) float64 {
			switch c.metric {
			case tripP50:
				return f[which].P50
			case kibPerOne:
				return f[which].Held
			}
			return f[which].CPU
		}
		return ratio(value(gateway), value(l4TLS))
	}}
}

func vncSuite() suite {
	s := suite{name: "vnc", servers: vncServers, round: vncRound, head: vncHead}
	for _, c := range allVNCCases() {
		s.rows = append(s.rows, c.row())
	}
	return s
}

func vncHead(r *runner) []string {
	head := append([]string{
		"VNC: l4-tls (caddy-l4's tls and proxy), bare (crypto/tls and io.Copy alone), gateway (its own defaults); each before a desktop of its own, in the load client's process",
		"viewers have TLS first, but vnc-bulk-vencrypt at the gateway, which is held against the others' TLS first",
	}, r.vncProof.lines()...)
	return append(head, fmt.Sprintf("ratio = gateway / l4-tls of the same round; us a MB are ms a GB; a call is %d frames of %.1f MB, one pointer event, or one connect",
		framesPerCall, frameLen/megabyte))
}
