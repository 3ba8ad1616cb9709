package l4vnc

import (
	"context"
	"errors"
	"net"
	"net/netip"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/testcard"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsession"
	"github.com/gatehouse-proxy/gatehouse/internal/workstation"
)

// reach dials the workstation and logs in, up to its ServerInit: only until the
// viewer has been let in can it be told that its desktop is not there. There is
// one attempt: Xvnc shuts everybody out who fails five times.
func (d *handshake) reach(session *vncsession.Session) (desktop *rfb.Desktop, why workstation.RefusalCode, cause error) {
	turn, cancel := context.WithTimeout(session.Context(), d.times.Step)
	defer cancel()
	done, why, cause := d.gateway.Workstations().Login(turn, session.Pass.Workstation)
	if done == nil {
		return nil, why, cause
	}
	why = workstation.WorkstationFailed // of a panic
	defer func() { done(why) }()
	desktop, why, cause = d.login(session)
	return desktop, why, cause
}

// login is reach, once it is the viewer's turn.
func (d *handshake) login(session *vncsession.Session) (*rfb.Desktop, workstation.RefusalCode, error) {
	target := session.Pass.Target
	conn, err := d.dial(session.Context(), target, session.Pass.Workstation.Name)
	if err != nil {
		if cause := errors.Unwrap(err); cause != nil {
			err = cause // for the operator
		}
		return nil, workstation.WorkstationUnreachable, err
	}
	stop := context.AfterFunc(session.Context(), func() { _ = conn.Close() }) // the process ends
	desktop, err := rfb.Connect(conn, rfb.Login{User: target.User, Password: target.Password, TLS: target.TLS}, d.times.Step)
	if !stop() && err == nil {
		err = session.Context().Err()
	}
	if err == nil {
		return desktop, "", nil
	}
	_ = conn.Close()
	return nil, failureOf(err), err
}

// failureOf is what the viewer is told of a login that failed.
func failureOf(err error) workstation.RefusalCode {
	switch rfb.KindOf(err) {
	case rfb.KindWrongPassword:
		return workstation.WorkstationPassword
	case rfb.KindNoSecurity:
		return workstation.WorkstationSecurity
	case rfb.KindTLS:
		return workstation.WorkstationCertificate
	case rfb.KindRefused:
		return workstation.WorkstationRefused
	case rfb.KindTimeout:
		return workstation.WorkstationTimeout
	case rfb.KindBlacklisted:
		return workstation.WorkstationBlacklisted
	}
	return workstation.WorkstationFailed
}

func (d *handshake) dial(ctx context.Context, target *workstation.Target, name string) (net.Conn, error) {
	if target.TestCard {
		if d.public {
			d.gateway.Requests().WarnOfDemo("the test card")
		}
		ours, its := net.Pipe()
		go func() {
			_ = testcard.Serve(context.WithoutCancel(ctx), its, testcard.Options{Name: "Gatehouse: " + name})
		}() // it ends with the session's connection
		return ours, nil
	}
	ctx, cancel := context.WithTimeout(ctx, d.times.Step)
	defer cancel()
	conn, err := target.Dial(ctx, ownAddress)
	if err == nil {
		tuneTCP(conn)
	}
	return conn, err
}

// ownAddress tells whether an address is this machine's: what listens there was
// not meant to be reached through a gateway.
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
