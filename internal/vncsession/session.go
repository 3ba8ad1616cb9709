// Package vncsession is the life of one viewer's desktop session, from a live token to the record:
//
//	s := vncsession.Open(deps, pass, viewer, security)
//	defer s.Finish(reason)    // exactly once, whatever happens
//	err := s.Join()           // a *desktop.Refusal
//	err = s.Record(init)      // if its rules say so, s.Recording then takes what is seen; a *desktop.Refusal
//	s.Refuse(refusal, cause)  // if the viewer is refused after all
//
// A session leaves one record, one log line and one count, and outlives the
// configuration under which it began.
package vncsession

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
)

// Names of sessions in records.
const (
	route  = "VNC session"
	family = "vnc"
)

// SecurityBrowser names how a browser shows its token. Its page connects again by itself where the gateway
// ends the session.
const SecurityBrowser = "browser"

// ErrDrain is the cause of an interrupt of model calls that leaves viewers alone.
var ErrDrain = errors.New("desktops go on")

// ErrMove is the cause of an interrupt that asks viewers to connect to another gateway.
var ErrMove = errors.New("the gateway leaves: another one serves the desktop")

// Deps is what a session needs of its gateway.
type Deps struct {
	Records interface{ Append(*activity.Record) }
	Metrics *metrics.Metrics
	Logger  *zap.Logger
	Redact  func(text string) string // takes secrets out of causes for the log
	Now     func() time.Time
	// Recordings is where sessions are recorded; nil: nowhere.
	Recordings *recording.Store

	// OnShutdown sets what is called when the process ends: it belongs to no configuration.
	OnShutdown func(cancel context.CancelCauseFunc)
	// Done runs once, at the end of Finish.
	Done func()
}

// Session is one viewer with a live token. It is used by one goroutine, but for its counters.
type Session struct {
	Pass *desktop.Pass
	Live *desktop.Session // set by Join
	// Recording is set by Record; nil: nothing is recorded.
	Recording *recording.Writer

	Actions, Screenshots, Typed atomic.Int64 // of an agent, for the record

	deps     Deps
	id       string // of the request
	begun    time.Time
	viewer   netip.AddrPort
	security string
	status   int
	code     string
	option   string // that refused
	cause    error  // of a refusal or a protocol error, for the log
}

// Open begins the session of a viewer whose token is live. Security names how the viewer showed it.
func Open(deps Deps, pass *desktop.Pass, viewer netip.AddrPort, security string) *Session {
	var random [10]byte
	_, _ = rand.Read(random[:]) // never fails (crypto/rand)
	return &Session{
		Pass: pass, deps: deps, id: "vnc-" + hex.EncodeToString(random[:]), begun: deps.Now(), viewer: viewer, security: security,
	}
}

// Context returns a context that ends when the process does, or with stop. It is for the login: an
// open session holds none.
func (s *Session) Context() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	s.deps.OnShutdown(func(cause error) {
		if !errors.Is(cause, ErrDrain) && !errors.Is(cause, ErrMove) {
			cancel(cause)
		}
	})
	return ctx, func() {
		s.deps.OnShutdown(func(error) {})
		cancel(nil)
	}
}

// OnMove has f called when the viewer of the open session should connect to another gateway. f must not
// wait.
func (s *Session) OnMove(f func()) {
	s.deps.OnShutdown(func(cause error) {
		if errors.Is(cause, ErrMove) {
			f()
		}
	})
}

// OnExit has f called when the process begins to exit, also if it waits for viewers first. f must not wait.
func (s *Session) OnExit(f func()) { s.deps.OnShutdown(func(error) { f() }) }

// Join opens the session at the workstation, which has answered by now. The
// error is a *desktop.Refusal.
func (s *Session) Join() error {
	live, err := s.Pass.Join(s.viewer, s.security)
	if err != nil {
		return err
	}
	s.Live = live
	return nil
}

// Refuse notes why the viewer is not let in; the cause is for the log.
func (s *Session) Refuse(refusal *desktop.Refusal, cause error) {
	s.code, s.status, s.cause = string(refusal.Code), refusal.Status(), cause
	s.option = refusal.Code.Option()
}

// ProtocolError notes which message of the viewer ended the session: a code for
// record and log, and the error itself for the log.
func (s *Session) ProtocolError(code string, cause error) {
	s.code, s.cause = code, cause
}

// Finish ends the session for this reason, unless it has ended for another, and writes its record, of a preview none.
// A session that was neither joined nor refused is the gateway's own failure.
func (s *Session) Finish(why desktop.Reason) {
	if s.Pass.Unlisted() {
		if s.Live != nil {
			s.Live.End(why)
			s.Live.Leave()
		}
		s.deps.Done()
		return
	}
	latency := s.deps.Now().Sub(s.begun)
	if s.Live == nil && s.code == "" {
		s.Refuse(desktop.NewRefusal(desktop.RefusedInternal), errNoOutcome)
	}
	// The record is made only now: most of an open session's life it would be memory alone.
	r := &activity.Record{
		ID: s.id, RequestID: s.id, CreatedAt: s.begun, Family: family, Route: route,
		Tenant: s.Pass.Issuer.Tenant, Key: s.Pass.Issuer.Key, KeyHash: s.Pass.Issuer.KeyHash, User: s.Pass.Issuer.User,
		Workstation: s.Pass.Workstation.Name, Role: desktop.Role(s.Pass.Issuer, s.Pass.Guest), UsageSource: activity.UsageNone,
		Status: s.status, Code: s.code, RefusedBy: s.option, Latency: latency,
	}
	if s.Live != nil {
		s.Live.End(why)
		s.Live.Leave()
		r.ID, r.Status = s.Live.ID, http.StatusOK
		why := s.Live.Why()
		s.endRecording(r, why)
		r.Ended, r.RefusedBy = string(why), why.Option()
		r.BytesUp, r.BytesDown = s.Live.Up.Load(), s.Live.Down.Load()
		r.Actions, r.Screenshots, r.Typed = s.Actions.Load(), s.Screenshots.Load(), s.Typed.Load()
		s.deps.Metrics.SessionEnded(metrics.Session{
			Security: s.security, Ended: r.Ended, Duration: r.Latency, Up: r.BytesUp, Down: r.BytesDown,
		})
	} else {
		s.deps.Metrics.VNCRefused(r.Code)
	}
	s.trace(r)
	s.writeLog(r)
	s.deps.Records.Append(r)
	s.deps.Done()
}

var errNoOutcome = errors.New("the session ended without an outcome")
