package request

import (
	"errors"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// ErrShutdown is the cause with which the calls of a gateway that shuts down are interrupted.
var ErrShutdown = errors.New("the gateway is shutting down")

// ShuttingDown is the failure of a call that was interrupted so.
func ShuttingDown(cause error) *apierror.Error {
	return apierror.New(apierror.ShuttingDown, "the gateway is shutting down").WithCause(cause)
}

// ClientGone is the failure of a call whose client has left.
func ClientGone(cause error) *apierror.Error {
	return apierror.New(apierror.ClientGone, "the client left").WithCause(cause)
}
