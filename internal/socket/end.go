package socket

import "github.com/gatehouse-proxy/gatehouse/internal/apierror"

// End is why a connection ends: the code of its Close (RFC 6455, section 7.4.1) and a sentence.
type End struct {
	Code   int
	Reason string
	Told   *apierror.Error // an event before the Close; nil for none
}

// Error implements error: a message may be the end of its connection.
func (e *End) Error() string { return e.Reason }

// The ends that all connections can have.
var (
	Gone     = End{Reason: "the client has left"}
	Old      = End{Code: 1001, Reason: "The connection is 55 minutes old. Open a new one."}
	HourLong = End{
		1000, "The connection is an hour old. Open a new one.",
		apierror.New(apierror.WebSocketLimitReached, "the connection is an hour old; open a new one"),
	}
	BadKey   = End{Code: 1008, Reason: "The key is not valid any more, or may not make responses."}
	Replaced = End{Code: 1012, Reason: "The configuration of the gateway was replaced. Open a new connection."}
	Shutdown = End{Code: 1001, Reason: "The gateway is shutting down. Open a new connection."}
	Binary   = End{Code: 1003, Reason: "Only text messages are read."}
	NotUTF8  = End{Code: 1007, Reason: "The message is not UTF-8."}
	TooLarge = End{Code: 1009, Reason: "The message is longer than max_body of the key."}
	Slow     = End{Code: 1008, Reason: "The message did not arrive in time."}
	Bug      = End{Code: 1011, Reason: "The gateway has failed."}
)
