package report

import "time"

// ClusterStatus is what an operator learns of the cluster of a gateway, as this gateway sees it.
type ClusterStatus struct {
	Name     string         `json:"name"`
	Node     string         `json:"node"` // this gateway: its name and its incarnation
	Engine   EngineStatus   `json:"engine"`
	Database DatabaseStatus `json:"database"`
	Nodes    []ClusterNode  `json:"nodes"` // whose leases live, by name
}

// EngineStatus is the state of Valkey. Counts are of this process.
type EngineStatus struct {
	Error       string     `json:"error"` // why it does not answer; "" if it does
	Since       *time.Time `json:"since"` // of the error
	BreakerOpen bool       `json:"breaker_open"`
	// Epoch is the replication ID under which the ledger is whole. Recovering says that the engine
	// has another, and WaitingFor which nodes have still to say what they know.
	Epoch       string   `json:"epoch"`
	Recovering  bool     `json:"recovering"`
	WaitingFor  []string `json:"waiting_for"`
	ClockOffset float64  `json:"clock_offset_seconds"` // the engine's clock minus that of this machine
	Outbox      int      `json:"outbox"`               // settlements that wait to be sent
	Unfit       string   `json:"unfit"`                // the settings for which hard budgets are shut; "" for none
	LeasesLost  uint64   `json:"leases_lost"`          // how often this node was taken for dead
	Reaped      uint64   `json:"reaped"`               // dead nodes that this one has cleared away
	Recoveries  uint64   `json:"recoveries"`           // of the ledger, after a failover or restart
	Restored    uint64   `json:"restored"`             // settlements that the engine had lost
}

// DatabaseStatus is the state of PostgreSQL. Counts are of this process.
type DatabaseStatus struct {
	Error        string     `json:"error"`         // why rows cannot be written; "" if they can
	Since        *time.Time `json:"since"`         // of the error
	Waiting      int        `json:"waiting"`       // rows that are not in the database yet
	Spooled      int        `json:"spooled"`       // batches that wait on this machine's disk
	SpooledBytes int64      `json:"spooled_bytes"` // their size
	Dropped      uint64     `json:"dropped"`       // rows that found no place to wait
	Refused      uint64     `json:"refused"`       // rows that the database does not take
	FeedSeq      int64      `json:"feed_seq"`      // the last change of keys and workstations that is known here
	FeedBehind   float64    `json:"feed_behind_seconds"`
}

// ClusterNode is a gateway of the cluster.
type ClusterNode struct {
	ID        string    `json:"id"`
	LeaseEnds time.Time `json:"lease_ends"`
	SameRules bool      `json:"same_limits"` // its limits are those of this gateway
}
