package cluster

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

// state is what a node knows of itself and of the cluster. The mutex of the Node guards it.
type state struct {
	view
	id          string // the name and its incarnation
	incarnation int
	epoch       string // of the engine, as this node has replayed for it
	era         string // of the balances then; "": it knows none

	leased bool          // there is a lease, as far as this node knows
	beaten bool          // a beat has said under this lease how the engine is
	rejoin bool          // the parts have to state what they hold
	replay bool          // the parts have to say again what the engine may have lost
	healed time.Time     // the end of the last replay
	dead   []string      // nodes that this one has to reap
	ready  chan struct{} // closed while nothing has to be healed

	failure error     // of the last beat
	since   time.Time // beats work, or fail
}

// view is what beats have told of the cluster.
type view struct {
	last    answer
	at      time.Time      // of last
	known   []string       // names of the nodes, when the ledger was last whole
	differs map[string]int // node -> beats at which its limits were not those of this one

	waiting []string // nodes that have still to replay

	server    valkey.Server
	inspected string // the replication ID of server
}

// peer is a node whose lease lives.
type peer struct {
	id     string
	end    time.Time // of its lease, on the engine's clock
	since  time.Time // of its lease
	config string    // hash
}

// answer is that of beat.lua.
type answer struct {
	now         time.Time
	replication string // ID of the history of the data, another one after a failover or a restart
	epoch       string // the ID for which the ledger is whole
	dead        string
	era         string // when the balances were loaded last
	peers       []peer
}

// readAnswer reads the answer of beat.lua.
func readAnswer(words []string) (a answer, err error) {
	const head, each = 5, 3
	if len(words) < head || (len(words)-head)%each != 0 {
		return a, fmt.Errorf("the answer to a beat has %d parts", len(words))
	}
	if a.now, err = micros(words[0]); err != nil {
		return a, err
	}
	a.replication, a.epoch, a.dead, a.era = words[1], words[2], words[3], words[4]
	for rest := words[head:]; len(rest) > 0; rest = rest[each:] {
		p := peer{id: rest[0]}
		if p.end, err = micros(rest[1]); err != nil {
			return a, err
		}
		since, config, _ := strings.Cut(rest[2], " ")
		if p.since, err = micros(since); err != nil {
			return a, err
		}
		p.config = config
		a.peers = append(a.peers, p)
	}
	return a, nil
}

func micros(s string) (time.Time, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q are no microseconds", s)
	}
	return time.UnixMicro(n), nil
}

// healthy reports whether nothing has to be healed.
func (s *state) healthy() bool { return s.leased && s.beaten && !s.rejoin && !s.replay }

// settle opens or shuts ready.
func (s *state) settle() {
	select {
	case <-s.ready:
		if !s.healthy() {
			s.ready = make(chan struct{})
		}
	default:
		if s.healthy() {
			close(s.ready)
		}
	}
}

// NameOf returns the name of a node by its ID.
func NameOf(id string) string {
	if i := strings.LastIndexByte(id, '.'); i >= 0 {
		return id[:i]
	}
	return id
}
