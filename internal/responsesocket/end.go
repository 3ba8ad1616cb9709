package responsesocket

import "github.com/gatehouse-proxy/gatehouse/internal/socket"

// The ends that only these connections have.
var (
	endIdle = socket.End{Code: 1000, Reason: "No response was asked for in 10 minutes. Open a new connection."}
	endMany = socket.End{Code: 1008, Reason: "Too many events in a minute that start no response."}
)
