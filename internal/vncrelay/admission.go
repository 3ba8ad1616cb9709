package vncrelay

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsession"
)

// Admission is the last part of a viewer's handshake, from its live token to its desktop.
type Admission struct {
	Gateway Gateway
	Server  *rfb.Server // has negotiated with the viewer
	Dial    Dialer
	Step    time.Duration // bounds each step at the workstation
	Within  time.Duration // bounds them together; 0: they are not
	Public  bool          // other machines can reach the address that the viewer dialled
	HangUp  func()        // closes the viewer's connection, so that what waits for it returns
}

// Open brings a viewer with a live token to its desktop. A viewer can be sent a reason only until it
// is accepted, so the workstation comes first. Where the error is a *desktop.Refusal, the session
// has noted it and the viewer was sent its text. The caller ends session and connection.
func (a Admission) Open(session *vncsession.Session, viewer netip.Addr) (*rfb.Desktop, error) {
	backend, refusal := a.Enter(session, viewer)
	if refusal != nil {
		_ = a.Server.Refuse(refusal.Text) // the connection is closed in any case
		return nil, refusal
	}
	// From here on a release ends the session: closing the connection interrupts what waits.
	defer session.Live.OnEnd(a.HangUp)()
	shown := backend.Init
	if session.Recording != nil {
		shown.Name = recordedName(shown.Name)
	}
	if err := a.admit(shown); err != nil {
		_ = backend.Conn.Close()
		return nil, err
	}
	return backend, nil
}

// Enter is Open without the viewer's side, for an agent: Server and HangUp are not used. The session
// has noted a refusal.
func (a Admission) Enter(session *vncsession.Session, viewer netip.Addr) (*rfb.Desktop, *desktop.Refusal) {
	pass := session.Pass
	if refusal := pass.Look(); refusal != nil { // without a login
		return nil, noted(session, refusal, nil)
	}
	if refusal, cause := pass.Locate(viewer); refusal != nil {
		return nil, noted(session, refusal, cause)
	}
	if pass.Target.TestCard != nil && a.Public {
		a.Gateway.WarnOfDemo("the test card")
	}
	ctx, stop, err := session.Context()
	if err != nil {
		return nil, notedAs(session, err)
	}
	if a.Within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, a.Within)
		defer cancel()
	}
	backend, failure, err := Backend{a.Gateway.Workstations(), a.Dial, a.Step}.Connect(ctx, pass)
	stop()
	if err != nil {
		pass.Doubt()
		return nil, noted(session, desktop.NewRefusal(failure), err)
	}
	if err := session.Join(); err != nil {
		_ = backend.Conn.Close()
		return nil, notedAs(session, err)
	}
	if err := session.Record(backend.Init); err != nil {
		_ = backend.Conn.Close()
		return nil, desktop.NewRefusal(desktop.RefusedRecording) // the session has ended with its reason
	}
	return backend, nil
}

// recordedName says behind the name of a desktop, which viewers show as the title of their window, that
// the session is recorded.
func recordedName(name string) string {
	const suffix = " (recorded)"
	return name[:min(len(name), rfb.MaxName-len(suffix))] + suffix
}

// admit ends the viewer's side of the handshake.
func (a Admission) admit(serverInit rfb.Init) error {
	if err := a.Server.Accept(); err != nil {
		return err
	}
	if _, err := a.Server.ClientInit(); err != nil { // on_conflict decides, not the viewer's shared flag
		return err
	}
	return a.Server.ServerInit(serverInit)
}

// noted returns why a viewer gets no desktop, when its session has noted it.
func noted(session *vncsession.Session, why *desktop.Refusal, cause error) *desktop.Refusal {
	session.Refuse(why, cause)
	return why
}

// notedAs is noted for an error that should be a refusal.
func notedAs(session *vncsession.Session, err error) *desktop.Refusal {
	refusal := desktop.NewRefusal(desktop.RefusedUnavailable)
	_ = errors.As(err, &refusal)
	return noted(session, refusal, err)
}
