package metrics

import "strings"

// Queue is whose concurrency limit calls wait for.
type Queue string

// The queues: those of all keys together, and so on.
const (
	KeyQueue     Queue = "key"
	TenantQueue  Queue = "tenant"
	ModelQueue   Queue = "model"
	GatewayQueue Queue = "gateway"
	ServerQueue  Queue = "mcp" // of MCP servers
)

// QueueOf returns the queue in which the calls of a subject wait: "key:dev" is of the keys.
func QueueOf(subject string) Queue {
	kind, _, _ := strings.Cut(subject, ":")
	return Queue(kind)
}

var queues = [...]Queue{KeyQueue, TenantQueue, ModelQueue, GatewayQueue, ServerQueue}
