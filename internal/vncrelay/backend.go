package vncrelay

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// Dialer connects to the workstation of a pass.
type Dialer func(context.Context, *desktop.Pass) (net.Conn, error)

// Backend is the side of the workstations.
type Backend struct {
	Workstations *desktop.Service
	Dial         Dialer
	Step         time.Duration // bounds each step: the wait for a login, the connection, each message
}

// Connect dials the workstation and logs in, up to its ServerInit. There is one attempt: Xvnc shuts
// out an address that fails five times, and all viewers come from the gateway's. On an error,
// failure is what the viewer is refused with.
func (b Backend) Connect(ctx context.Context, pass *desktop.Pass) (backend *rfb.Desktop, failure desktop.RefusalCode, err error) {
	turn, cancel := context.WithTimeout(ctx, b.Step)
	defer cancel()
	done, failure, err := b.Workstations.Login(turn, pass.Workstation)
	if done == nil {
		return nil, givenUp(ctx, failure), err
	}
	failure = desktop.WorkstationFailed // after a panic
	defer func() { done(failure) }()
	backend, failure, err = b.login(ctx, pass)
	if err != nil {
		failure = givenUp(ctx, failure)
	}
	return backend, failure, err
}

// givenUp is why nobody waits for the workstation any more, else the failure.
func givenUp(ctx context.Context, failure desktop.RefusalCode) desktop.RefusalCode {
	var refusal *desktop.Refusal
	if errors.As(context.Cause(ctx), &refusal) {
		return refusal.Code
	}
	return failure
}

func (b Backend) login(ctx context.Context, pass *desktop.Pass) (*rfb.Desktop, desktop.RefusalCode, error) {
	dialCtx, cancel := context.WithTimeout(ctx, b.Step)
	conn, err := b.Dial(dialCtx, pass)
	cancel()
	if err != nil {
		if cause := errors.Unwrap(err); cause != nil {
			err = cause // for the operator
		}
		return nil, desktop.WorkstationUnreachable, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // the process ends
	target := pass.Target
	backend, err := rfb.Connect(conn, rfb.Login{User: target.User, Password: target.Password, TLS: target.TLS, Required: target.Derived}, b.Step)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err == nil {
		return backend, "", nil
	}
	_ = conn.Close()
	return nil, failureOf(err), err
}

// failureOf is what a viewer is refused with after a failed login.
func failureOf(err error) desktop.RefusalCode {
	switch rfb.KindOf(err) {
	case rfb.KindWrongPassword:
		return desktop.WorkstationPassword
	case rfb.KindNoSecurity:
		return desktop.WorkstationSecurity
	case rfb.KindTLS:
		return desktop.WorkstationCertificate
	case rfb.KindRefused:
		return desktop.WorkstationRefused
	case rfb.KindTimeout:
		return desktop.WorkstationTimeout
	case rfb.KindBlacklisted:
		return desktop.WorkstationBlacklisted
	}
	return desktop.WorkstationFailed
}

// DialWorkstation is the Dialer outside tests.
func DialWorkstation(ctx context.Context, pass *desktop.Pass) (net.Conn, error) {
	if serve := pass.Target.TestCard; serve != nil {
		ours, its := net.Pipe()
		name := "Gatehouse: " + pass.Workstation.Name
		go func() { _ = serve(context.WithoutCancel(ctx), its, name) }() // ends with ours
		return ours, nil
	}
	conn, err := pass.Target.Dial(ctx, ownAddress)
	if err == nil {
		TuneTCP(conn)
	}
	return conn, err
}

// ownAddress reports whether an address is this machine's: its servers were not meant to be reached
// through a gateway.
func ownAddress(address netip.AddrPort) bool {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return true
	}
	for _, a := range addresses {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil && prefix.Addr() == address.Addr() {
			return true
		}
	}
	return false
}
