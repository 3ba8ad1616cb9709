package l4vnc

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/testcard"
	"github.com/gatehouse-proxy/gatehouse/internal/workstation"
)

// failed is what became of a workstation that could not be opened: for metrics
// and records, and in words for the viewer.
type failed struct{ code, text string }

var (
	unreachable   = failed{"workstation_unreachable", "The workstation cannot be reached. Try again later."}
	wrongPassword = failed{"workstation_password", "The workstation refused the gateway's password. Tell your administrator."}
	noSecurity    = failed{"workstation_security", "The workstation offers no security type that the gateway may use. Tell your administrator."}
	blacklisted   = failed{"workstation_blacklisted", "The workstation refuses connections for a while. Try again in a minute."}
	wrongTLS      = failed{"workstation_certificate", "The workstation did not show the expected certificate. Tell your administrator."}
	refusing      = failed{"workstation_refused", "The workstation refused the connection. Tell your administrator."}
	silent        = failed{"workstation_timeout", "The workstation did not answer in time. Try again later."}
	broken        = failed{"workstation_failed", "The workstation did not answer as a VNC server. Tell your administrator."}
)

// spareFor is how long a workstation that refused the gateway's login is not
// asked again.
const spareFor = 30 * time.Second

var (
	sparedFor = map[string]failed{wrongPassword.code: wrongPassword, blacklisted.code: blacklisted}
	errSpared = errors.New("it refused the gateway's login a moment ago and is not asked again yet")
)

// reach dials the workstation and logs in, up to its ServerInit: only until the
// viewer has been let in can it be told that its desktop is not there. There is
// one attempt: Xvnc shuts everybody out who fails five times.
func (d *door) reach(visit *gateway.Visit) (*rfb.Desktop, failed, error) {
	desk, target := d.gateway.Desk(), visit.Pass.Target
	right := false
	if target.Password != "" {
		done, err := desk.Login(visit.Context(), visit.Pass.Workstation)
		if err != nil {
			return nil, silent, err
		}
		defer func() { done(right) }()
	}
	if why, spared := desk.Spared(visit.Pass.Workstation); spared {
		return nil, sparedFor[why], errSpared
	}
	conn, err := d.dial(visit.Context(), target, visit.Pass.Workstation.Name)
	if err != nil {
		if cause := errors.Unwrap(err); cause != nil {
			err = cause // for the operator
		}
		return nil, unreachable, err
	}
	stop := context.AfterFunc(visit.Context(), func() { _ = conn.Close() }) // the process ends
	desktop, err := rfb.Connect(conn, rfb.Login{User: target.User, Password: target.Password, TLS: target.TLS}, d.times.Step)
	if !stop() && err == nil {
		err = visit.Context().Err()
	}
	if right = err == nil; right {
		return desktop, failed{}, nil
	}
	_ = conn.Close()
	switch rfb.KindOf(err) {
	case rfb.KindWrongPassword:
		desk.Spare(visit.Pass.Workstation, wrongPassword.code, spareFor)
		return nil, wrongPassword, err
	case rfb.KindNoSecurity:
		return nil, noSecurity, err
	case rfb.KindTLS:
		return nil, wrongTLS, err
	case rfb.KindRefused:
		return nil, refusing, err
	case rfb.KindTimeout:
		return nil, silent, err
	case rfb.KindBlacklisted:
		desk.Spare(visit.Pass.Workstation, blacklisted.code, spareFor)
		return nil, blacklisted, err
	}
	return nil, broken, err
}

func (d *door) dial(ctx context.Context, target *workstation.Target, name string) (net.Conn, error) {
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
