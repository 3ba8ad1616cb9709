package responsesocket

import (
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/socket"
)

// The default limits of connections.
const (
	DefaultPerKey = 10
	DefaultMost   = 1000
)

// Process is what the connections of all configurations of a process share.
type Process struct {
	*socket.Process
	states states
}

// NewProcess returns a process without connections.
func NewProcess() *Process {
	return &Process{Process: socket.NewProcess(), states: states{most: MaxStates}}
}

// Sockets are the open connections of a configuration.
type Sockets struct {
	*socket.Sockets
	states *states
}

// NewSockets returns the connections of a configuration: none yet.
func NewSockets(p *Process, l socket.Limits, now func() time.Time) *Sockets {
	kind := socket.Kind{Option: "responses_websocket", Idle: IdleTime, Rested: &endIdle}
	return &Sockets{socket.NewSockets(p.Process, kind, l, now), &p.states}
}
