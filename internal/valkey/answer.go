package valkey

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	engine "github.com/valkey-io/valkey-go"
)

// notReady are the errors that a server gives because of its own state, before it changes anything. A
// script gets them at its first write.
var notReady = map[string]bool{
	"READONLY":    true, // a replica, or a master that has become one
	"LOADING":     true, // it reads its data after a start
	"MASTERDOWN":  true,
	"CLUSTERDOWN": true,
	"TRYAGAIN":    true,
	"NOREPLICAS":  true, // min-replicas-to-write
	"MISCONF":     true, // it cannot save
	"OOM":         true,
	"BUSY":        true, // a script runs for too long
	"NOAUTH":      true,
	"WRONGPASS":   true,
}

// errReplica means that the connection leads to the wrong server.
var errReplica = errors.New("READONLY the server is a replica")

// answer tells a server's error, which is the reply to the message, from a failure to get one.
func answer(r engine.ValkeyResult) (Reply, Outcome, error) {
	if err := r.NonValkeyError(); err != nil {
		return failure(err)
	}
	reply, err := r.ToMessage()
	if serverError, ok := engine.IsValkeyErr(err); ok && !serverError.IsNil() {
		if code, _, _ := strings.Cut(err.Error(), " "); notReady[code] {
			if code == "READONLY" {
				err = errReplica
			}
			return Reply{}, NotReady, fmt.Errorf("%w: %w: %w", ErrUnavailable, ErrNotDone, err)
		}
		return Reply{}, Refused, err
	}
	return reply, Answered, nil
}

func failure(err error) (Reply, Outcome, error) {
	var operation *net.OpError
	switch {
	case errors.As(err, &operation) && operation.Op == "dial", errors.Is(err, engine.ErrNoAddr), errors.Is(err, engine.ErrClosing):
		return Reply{}, NotSent, fmt.Errorf("%w: %w: %w", ErrUnavailable, ErrNotDone, err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return Reply{}, TimedOut, fmt.Errorf("%w in time: %w", ErrUnavailable, context.DeadlineExceeded)
	}
	return Reply{}, Broken, fmt.Errorf("%w: %w", ErrUnavailable, err)
}
