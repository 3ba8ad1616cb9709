package gateway

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net/http"
	"net/netip"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/gatehouse-proxy/gatehouse/internal/fault"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/visitors"
	"github.com/gatehouse-proxy/gatehouse/internal/workstation"
)

// sessionRoute names sessions in records, metrics and logs.
const sessionRoute = "VNC session"

// Visit is the connection of one viewer whose token is live: Visit, Join,
// Finish. Like a call it leaves, whatever happens, one record, one log line and
// one count, and it outlives its configuration.
type Visit struct {
	Pass    *workstation.Pass
	Session *workstation.Session // set by Join

	call     *Call
	ctx      context.Context
	viewer   netip.AddrPort
	security string
}

// Visit opens the visit of a viewer with a live token. It fails only when the
// configuration is closed and its State gone.
func (g *Gateway) Visit(pass *workstation.Pass, viewer netip.AddrPort, security string) (*Visit, error) {
	var random [10]byte
	_, _ = rand.Read(random[:]) // never fails (crypto/rand)
	issuer := keys.Credential{Key: &keys.Key{Name: pass.Issuer.Key, Tenant: pass.Issuer.Tenant}, Hash: pass.Issuer.KeyHash}
	call, err := g.Begin(issuer, Route{Name: sessionRoute, Family: "vnc", Recorded: true}, IDs{RequestID: "vnc-" + hex.EncodeToString(random[:])})
	if err != nil {
		return nil, err
	}
	call.Record.ID = call.Record.RequestID
	call.Record.Workstation = pass.Workstation.Name
	ctx, cancel := context.WithCancelCause(context.Background()) // of no module's life
	g.setCancel(call, cancel)
	return &Visit{Pass: pass, call: call, ctx: ctx, viewer: viewer, security: security}, nil
}

// Context ends when the process does, and with Finish.
func (v *Visit) Context() context.Context { return v.ctx }

// Join opens the session, after the workstation has answered. The error is a
// *workstation.Refusal.
func (v *Visit) Join() error {
	session, err := v.call.gateway.desk.Join(v.Pass, v.viewer, v.security)
	if err != nil {
		return err
	}
	v.Session = session
	v.call.Record.ID = session.ID
	return nil
}

// Refuse notes why no session came of the visit: the code of a refusal, an
// HTTP status that says whose doing it was (403 our rules, 502 the
// workstation, 499 the viewer), and the cause for the log.
func (v *Visit) Refuse(code string, status int, cause error) {
	v.call.Record.Code, v.call.Record.Status = code, status
	v.call.cause, v.call.ended = cause, true
}

// ProtocolError notes which message of the viewer ended the session: a code for
// record and log, and the error itself for the log.
func (v *Visit) ProtocolError(code string, cause error) {
	v.call.Record.Code, v.call.cause = code, cause
}

// Finish ends the session, if there is one, and settles the visit. Why is of
// the relay; what ended the session from elsewhere goes before it.
func (v *Visit) Finish(why workstation.Reason) {
	r := v.call.Record
	r.Latency = v.call.gateway.now().Sub(v.call.begun)
	switch {
	case v.Session != nil:
		v.Session.End(why) // unless somebody else did before
		v.Session.Leave()
		r.Status, v.call.ended = http.StatusOK, true
		r.Ended = string(v.Session.Why())
		r.BytesUp, r.BytesDown = v.Session.Up.Load(), v.Session.Down.Load()
		v.call.gateway.state.Metrics.SessionEnded(metrics.Session{
			Security: v.security, Ended: r.Ended, Duration: r.Latency, Up: r.BytesUp, Down: r.BytesDown,
		})
	case !v.call.ended:
		v.Refuse(string(fault.Internal), http.StatusInternalServerError, errors.New("the visit ended without an outcome"))
		fallthrough
	default:
		v.call.gateway.state.Metrics.VNCRefused(r.Code)
	}
	v.call.cancel(nil)
	v.writeLog()
	v.call.settle()
}

// writeLog writes the one line of the visit. The token is named by a part of
// its hash.
func (v *Visit) writeLog() {
	r := v.call.Record
	level, message := zapcore.InfoLevel, "vnc session"
	if v.Session == nil {
		level, message = zapcore.WarnLevel, "vnc connection refused"
	}
	entry := v.call.gateway.logger.Check(level, message)
	if entry == nil {
		return
	}
	fields := []zap.Field{
		zap.String("session", r.ID),
		zap.String("workstation", r.Workstation),
		zap.String("key", r.Key),
		zap.String("tenant", r.Tenant),
		zap.String("token", v.Pass.TokenID),
		zap.String("remote", v.viewer.String()),
		zap.String("security", v.security),
		zap.Duration("duration", r.Latency.Round(time.Microsecond)),
	}
	if v.Session != nil {
		fields = append(fields, zap.String("ended", r.Ended), zap.Int64("bytes_up", r.BytesUp), zap.Int64("bytes_down", r.BytesDown))
	}
	if r.Code != "" {
		fields = append(fields, zap.String("code", r.Code))
	}
	if v.call.cause != nil {
		fields = append(fields, zap.String("cause", v.call.gateway.redactor.Text(v.call.cause.Error())))
	}
	entry.Write(fields...)
}

// VNCRefused counts and logs a connection to the desktop door without a live
// token. It leaves no record, and its log is sampled.
func (g *Gateway) VNCRefused(reason string, viewer netip.AddrPort, cause error) {
	g.state.Metrics.VNCRefused(reason)
	g.sampled().Warn("vnc connection refused", zap.String("code", reason), zap.String("remote", viewer.String()), zap.Error(cause))
}

// Visitors are those who stand at the desktop door.
func (g *Gateway) Visitors() *visitors.Book { return g.state.Visitors }

// Desk is the front desk of the workstations, nil without any.
func (g *Gateway) Desk() *workstation.Desk { return g.desk }
