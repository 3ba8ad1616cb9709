package responsesocket

import "github.com/gatehouse-proxy/gatehouse/internal/apierror"

// end is why a connection ends: the code of its Close (RFC 6455, section 7.4.1) and a sentence.
type end struct {
	code   int
	reason string
	told   *apierror.Error // an event before the Close; nil for none
}

// Error implements error: a frame may be the end of its connection.
func (e *end) Error() string { return e.reason }

var (
	endGone    = end{reason: "the client has left"}
	endLife    = end{code: 1001, reason: "The connection is 55 minutes old. Open a new one."}
	endLongest = end{
		1000, "The connection is an hour old. Open a new one.",
		apierror.New(apierror.WebSocketLimitReached, "the connection is an hour old; open a new one"),
	}
	endIdle     = end{code: 1000, reason: "No response was asked for in 10 minutes. Open a new connection."}
	endKey      = end{code: 1008, reason: "The key is not valid any more, or may not make responses."}
	endReplaced = end{code: 1012, reason: "The configuration of the gateway was replaced. Open a new connection."}
	endShutdown = end{code: 1001, reason: "The gateway is shutting down. Open a new connection."}
	endBinary   = end{code: 1003, reason: "Only text messages are read."}
	endText     = end{code: 1007, reason: "The message is not UTF-8."}
	endTooLarge = end{code: 1009, reason: "The message is longer than max_body of the key."}
	endSlow     = end{code: 1008, reason: "The message did not arrive in time."}
	endMany     = end{code: 1008, reason: "Too many events in a minute that start no response."}
	endBug      = end{code: 1011, reason: "The gateway has failed."}
)
