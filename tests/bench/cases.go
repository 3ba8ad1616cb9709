//go:build linux

package main

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Bounds of the command line: two cores and one loopback.
const (
	maxRounds = 50
	minTime   = 50 * time.Millisecond
	maxTime   = time.Minute
	maxRate   = 50_000
	maxHeld   = 5_000 // two descriptors each in a proxy
	maxProcs  = 1_024
	// maxRun ends a run that hangs.
	maxRun = 2 * time.Hour
)

// shape is how a case loads a server.
type shape int

const (
	closed shape = iota // each connection calls again when it has its answer
	open                // fixed rate
	idle                // streams that stay open and silent
)

// metric is the figure whose ratio a goal bounds.
type metric string

const (
	cpuPerOp  metric = "CPU"        // process time of the server for one unit
	addedP50  metric = "added p50"  // p50 less the p50 of the upstream directly
	tripP50   metric = "p50"        // of a round trip through the server
	tripP99   metric = "p99"        // of the same; the difference to the direct one is too unsteady
	kibPerOne metric = "KiB/stream" // growth of anonymous memory for one stream or session
	kbPerKey  metric = "KB/key"     // growth of anonymous memory for one key
	startTime metric = "start"      // until the first answered call
)

// benchCase is one row of the report.
type benchCase struct {
	name    string
	unit    string // what CPU is counted for
	units   int    // of them in one call
	shape   shape
	metric  metric
	goal    goal
	path    string
	size    int // of the request body
	conns   int
	prompt  promptKind // "" is that of the command line
	prefix  string     // of the model; "" is providerPrefix
	model   string
	stream  bool
	check   check
	wrong   bool          // sends an unknown key, to the site that checks keys
	spent   bool          // the same with a key whose rate is used up
	secure  bool          // over TLS on both sides, to the provider with HTTP/2
	rate    int           // calls a second of an open load; 0 is that of the command line
	duties  duties        // of the measured gateway, which is compared with the one without
	proxied bool          // without the upstream directly
	first   bool          // latency to the first event
	slice   time.Duration // how long a server is loaded before the next one is
	stagger time.Duration
}

// A measurement is cut into slices that alternate between the servers, because the load of a shared
// machine drifts within seconds. A slice is long compared with a clock tick; one of paced streams
// is about as long as they are.
const (
	usualSlice = 250 * time.Millisecond
	pacedSlice = time.Second
)

// Connections: enough to keep two cores busy with small bodies; few if one body already fills the
// loopback.
const (
	smallConns = 8
	largeConns = 4
	rateConns  = 32
	pacedConns = 256
	// secureCallsPerSecond is the fixed rate of the row over TLS.
	secureCallsPerSecond = 200
)

const kib, mib = 1 << 10, 1 << 20

// allCases is the list of make bench, with the goals of the project for the ratio gateway /
// reverse_proxy.
func allCases() []benchCase {
	chat := func(name string, size, conns int, g goal) benchCase {
		return benchCase{name: name, unit: "request", units: 1, metric: cpuPerOp, goal: g, path: chatPath,
			size: size, conns: conns, model: modelWhole, check: checkWhole, slice: usualSlice}
	}
	prose := func(c benchCase) benchCase {
		c.name, c.goal, c.prompt = c.name+"-prose", goal{}, prosePrompt
		return c
	}
	second := func(c benchCase) benchCase {
		c.name, c.path = c.name+"-openrouter", chatPathSecond
		return c
	}
	// What users run: TLS from the client, TLS and HTTP/2 to the provider.
	secure := func(c benchCase, g goal) benchCase {
		c.name, c.goal, c.secure, c.prefix, c.proxied = "tls-"+strings.TrimPrefix(c.name, "req-"), g, true, securePrefix, true
		return c
	}
	small := chat("req-1k", kib, smallConns, goal{1.08, 0.90})
	medium := chat("req-32k", 32*kib, smallConns, goal{1.0, 0.85})
	large := chat("req-1m", mib, largeConns, goal{1.3, 1.1})

	rate := chat("rate-1k", kib, rateConns, goal{})
	rate.shape, rate.metric = open, addedP50
	secureRate := secure(rate, goal{1.05, 1.0})
	secureRate.metric, secureRate.rate = tripP50, secureCallsPerSecond

	sse := benchCase{name: "sse-64", unit: "stream", units: 1, metric: cpuPerOp, goal: goal{1.15, 1.0}, path: chatPath,
		size: kib, conns: smallConns, model: modelCoalesced, stream: true, check: checkChatStream(coalescedEvents, false), slice: usualSlice}
	sseSecond := second(sse)
	sseSecond.check = checkChatStream(coalescedEvents, true)
	responses := sse
	responses.name, responses.path, responses.model, responses.check = "responses-64", responsesPath, modelWhole, checkResponses
	responses.goal = goal{1.35, 1.1}

	// The cost of a stream whose provider has the other API, beside a proxy whose stream is not
	// translated. The project has no goal for this, because no proxy does it; the bounds keep it
	// from growing.
	translated := responses
	translated.name, translated.unit, translated.units, translated.goal = "responses-translated", "event", coalescedEvents, goal{2.0, 1.5}
	translated.prefix, translated.model, translated.check = chatOnlyPrefix, modelCoalesced, checkTranslatedResponses
	chatTranslated := sse
	chatTranslated.name, chatTranslated.unit, chatTranslated.units, chatTranslated.goal = "chat-translated", "event", coalescedEvents, goal{3.0, 2.0}
	chatTranslated.prefix, chatTranslated.check = responsesOnlyPrefix, checkTranslatedChat

	chatFromMessages := chatTranslated
	chatFromMessages.name, chatFromMessages.prefix, chatFromMessages.check = "chat-from-messages", messagesOnlyPrefix, checkChatFromMessages
	chatFromGemini := chatTranslated
	chatFromGemini.name, chatFromGemini.prefix, chatFromGemini.check = "chat-from-gemini", geminiPrefix, checkChatFromMessages
	wholeFromGemini := chatFromGemini
	wholeFromGemini.name, wholeFromGemini.stream, wholeFromGemini.check = "chat-from-gemini-whole", false, checkWholeFromGemini
	native := sse
	native.name, native.path, native.prefix, native.check = "messages-64", messagesPath, messagesOnlyPrefix, checkMessages
	native.goal = goal{}

	// A call with two targets of which the first answers.
	alias := chat("alias-1k", kib, smallConns, goal{})
	alias.prefix, alias.check = aliasPrefix, checkAlias

	paced := benchCase{name: "sse-paced", unit: "event", units: pacedEvents, metric: cpuPerOp, goal: goal{1.15, 0.95}, path: chatPath,
		size: kib, conns: pacedConns, model: modelPaced, stream: true, check: checkChatStream(pacedEvents, false),
		first: true, slice: pacedSlice, stagger: pace * pacedEvents}

	held := benchCase{name: "held", unit: "stream", units: 1, shape: idle, metric: kibPerOne, goal: goal{0.85, 0.70}, path: chatPath,
		size: kib, model: modelHeld, stream: true, check: checkFirstEvent, proxied: true}

	wrong := chat("wrong-key", kib, smallConns, goal{0.70, 0.55})
	wrong.check, wrong.wrong, wrong.proxied = checkUnauthorized, true, true

	off := []benchCase{
		secure(small, goal{1.05, 0.95}),
		secure(medium, goal{1.05, 0.95}),
		secure(large, goal{1.05, 0.95}),
		secure(sse, goal{1.10, 1.0}),
		secureRate,
		small,
		second(small),
		medium,
		prose(medium),
		large,
		prose(large),
		chat("req-8m", 8*mib, largeConns, goal{1.5, 1.2}),
		rate,
		sse,
		sseSecond,
		responses,
		translated,
		chatTranslated,
		native,
		chatFromMessages,
		chatFromGemini,
		wholeFromGemini,
		alias,
		paced,
		held,
		wrong,
		refusedRate(wrong),
	}
	off = append(off, mediaCases(small, large)...)
	off = append(off, toolCase(small))
	return append(off, dutyCases(off)...)
}

// rows are the rows of the report that the case fills, each with a figure of the same calls.
func (c benchCase) rows() []row {
	first := row{name: c.name, unit: c.unit, metric: c.metric, goal: c.goal, value: func(f map[role]figures) float64 { return c.ratioTo(f, proxy) }}
	if c.shape != open {
		return []row{first}
	}
	tail := c
	tail.metric = tripP99
	return []row{first, {name: c.name + "-p99", unit: c.unit, metric: tripP99, of: c.name, value: func(f map[role]figures) float64 { return tail.ratioTo(f, proxy) }}}
}

// caseOf is the case of a row.
func caseOf(w row) benchCase {
	all := allCases()
	return all[slices.IndexFunc(all, func(c benchCase) bool { return c.name == cmp.Or(w.of, w.name) })]
}

// load builds the call of a case for one server.
func (c benchCase) load(s *server, sec secrets, prompt promptKind) (load, error) {
	build := chatBody
	switch c.path {
	case responsesPath:
		build = responsesBody
	case messagesPath:
		build = messagesBody
	case embeddingsPath:
		build = embeddingsBody
	case transcriptsPath:
		build = formBody
	case toolPath:
		build = toolBody
	}
	model := cmp.Or(c.prefix, providerPrefix) + c.model
	body, err := build(model, c.stream, c.size, cmp.Or(c.prompt, prompt))
	if err != nil {
		return load{}, fmt.Errorf("case %s: %w", c.name, err)
	}
	addr, key := c.target(s), sec.gateway
	switch {
	case c.wrong:
		key = sec.wrong
	case c.spent:
		key = sec.spent
	}
	return load{request: encode(addr, c.path, key, body), sent: len(body), check: c.checkAt(s), model: s.model(model),
		firstEvent: c.first, stagger: c.stagger}, nil
}

func (c benchCase) target(s *server) string {
	switch {
	case c.wrong || c.spent:
		return s.guarded
	case c.secure:
		return s.secure
	}
	return s.addr
}

// dialers are the connections that load a server.
func (c benchCase) dialers(f *fleet, s *server) []*conn {
	conns := newConns(c.conns, c.target(s))
	if c.secure {
		config := &tls.Config{RootCAs: f.cert.roots, ServerName: "127.0.0.1"}
		for _, each := range conns {
			each.tls = config
		}
	}
	return conns
}
