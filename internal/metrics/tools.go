package metrics

import "github.com/prometheus/client_golang/prometheus"

// ToolOutcome is how a request to an MCP server ended, in the words of an operator.
type ToolOutcome string

// The outcomes.
const (
	ToolOK       ToolOutcome = "ok"
	ToolError    ToolOutcome = "tool_error" // the tool ran, and answered that it failed
	ToolRefused  ToolOutcome = "refused"    // by the gateway; the server was not asked
	ToolFailed   ToolOutcome = "failed"     // the server did not answer, or its answer was refused
	ToolCanceled ToolOutcome = "canceled"   // the client left
)

// toolOutcome returns "" for a call that is none of an MCP server.
func (c *Call) toolOutcome() ToolOutcome {
	switch {
	case c.Method == "":
		return ""
	case c.Status == statusClientGone:
		return ToolCanceled
	case c.Code != "" && c.Sent:
		return ToolFailed
	case c.Code != "":
		return ToolRefused
	case c.IsError:
		return ToolError
	}
	return ToolOK
}

// statusClientGone is the status of a call whose client has left.
const statusClientGone = 499

// tools are the collectors of requests to MCP servers. Methods are those of the protocol. A tool is no
// label: a server may have thousands.
type tools struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

func newTools() tools {
	return tools{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "mcp_requests_total",
			Help: "Requests to MCP servers that ended, by server, method and outcome (ok, tool_error, refused, failed, canceled).",
		}, []string{"server", "method", "outcome"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "mcp_request_duration_seconds", Buckets: durationBuckets,
			Help: "Time from the request's header to the end of the answer of requests that reached an MCP server.",
		}, []string{"server", "method"}),
	}
}
