package l4vnc

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/testcard"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsession"
	"github.com/gatehouse-proxy/gatehouse/internal/workstation"
)

// backoffTime is how long a workstation that refused the gateway's login is not
// asked again.
const backoffTime = 30 * time.Second

var errBackoff = errors.New("it refused the gateway's login a moment ago and is not asked again yet")

// reach dials the workstation and logs in, up to its ServerInit: only until the
// viewer has been let in can it be told that its desktop is not there. There is
// one attempt: Xvnc shuts everybody out who fails five times.
func (d *handshake) reach(session *vncsession.Session) (*rfb.Desktop, workstation.RefusalCode, error) {
	service, target := d.gateway.Workstations(), session.Pass.Target
	right := false
	if target.Password != "" {
		done, err := service.Login(session.Context(), session.Pass.Workstation)
		if err != nil {
			return nil, workstation.WorkstationTimeout, err
		}
		defer func() { done(right) }()
	}
	if why, backoff := service.Backoff(session.Pass.Workstation); backoff {
		return nil, why, errBackoff
	}
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
	if right = err == nil; right {
		return desktop, "", nil
	}
	_ = conn.Close()
	switch rfb.KindOf(err) {
	case rfb.KindWrongPassword:
		service.BackOff(session.Pass.Workstation, workstation.WorkstationPassword, backoffTime)
		return nil, workstation.WorkstationPassword, err
	case rfb.KindNoSecurity:
		return nil, workstation.WorkstationSecurity, err
	case rfb.KindTLS:
		return nil, workstation.WorkstationCertificate, err
	case rfb.KindRefused:
		return nil, workstation.WorkstationRefused, err
	case rfb.KindTimeout:
		return nil, workstation.WorkstationTimeout, err
	case rfb.KindBlacklisted:
		service.BackOff(session.Pass.Workstation, workstation.WorkstationBlacklisted, backoffTime)
		return nil, workstation.WorkstationBlacklisted, err
	}
	return nil, workstation.WorkstationFailed, err
}

func (d *handshake) dial(ctx context.Context, target *workstation.Target, name string) (net.Conn, error) {
	if target.TestCard {
		if d.public {
			d.gateway.WarnOfDemo("the test card")
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
		keepAlive(conn)
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
