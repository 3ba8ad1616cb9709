package vncsession

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/testcard"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
)

var viewer = netip.MustParseAddrPort("192.0.2.7:40000")

// rig is a gateway with one workstation, and what its sessions leave behind.
type rig struct {
	service  *desktop.Service
	deps     Deps
	pass     *desktop.Pass
	records  []*activity.Record
	lines    *observer.ObservedLogs
	registry *prometheus.Registry
	done     int
}

// Append takes a record.
func (r *rig) Append(record *activity.Record) { r.records = append(r.records, record) }

func newRig(t *testing.T) *rig {
	t.Helper()
	began := time.Date(2026, 3, 18, 12, 0, 0, 0, time.UTC)
	now := began
	service, err := desktop.New(desktop.Config{
		Policy: desktop.Policy{Domain: "vnc.example.com"},
		Workstations: []desktop.Spec{
			{ID: desktop.ID{Tenant: "default", Name: "desk1"}, Target: desktop.Target{TestCard: testcard.Serve}},
		},
		State: memory.NewState(func() time.Time { return began }), Storage: new(desktoptest.Storage), Random: rand.Reader,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := service.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	issued, err := service.Issue(desktop.Issuer{Tenant: "default", Key: "dev", KeyHash: "0123"}, "desk1", desktop.Options{})
	if err != nil {
		t.Fatal(err)
	}
	label, _, _ := strings.Cut(issued.URL, ".")
	r := &rig{service: service, registry: prometheus.NewRegistry()}
	if r.pass, err = service.Find(label, viewer.Addr()); err != nil {
		t.Fatal(err)
	}
	none := func() float64 { return 0 }
	values := metrics.New(metrics.Gauges{
		ActivityLost: none, InFlight: none, BodyMemory: none, BodyMemoryLimit: none, AnswerMemory: none, AnswerMemoryLimit: none,
		StoreQueue: none, StoreUp: none, Sessions: none, HalfOpen: none, CertificateEnds: func() time.Time { return time.Time{} },
		Providers: func() []metrics.ProviderUp { return nil }, Credentials: func() []metrics.CredentialLeft { return nil }, Sources: func() map[string]bool { return nil }, Queues: func() map[metrics.Queue]int { return nil }, Budgets: func() []metrics.BudgetSpent { return nil },
	})
	if err := values.Register(r.registry); err != nil {
		t.Fatal(err)
	}
	core, lines := observer.New(zap.InfoLevel)
	r.lines = lines
	r.deps = Deps{
		Records: r, Metrics: values, Logger: zap.New(core),
		Redact:     func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") },
		Now:        func() time.Time { now = now.Add(time.Second); return now },
		OnShutdown: func(context.CancelCauseFunc) {}, Done: func() { r.done++ },
	}
	return r
}

// ended finds the one record, log line and count, and the end of the session.
func (r *rig) ended(t *testing.T, metric string) (*activity.Record, observer.LoggedEntry) {
	t.Helper()
	if len(r.records) != 1 || r.lines.Len() != 1 || r.done != 1 {
		t.Fatalf("%d records, %d lines, done %d times; want one of each", len(r.records), r.lines.Len(), r.done)
	}
	families, err := r.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counted := 0.0
	for _, f := range families {
		if f.GetName() == metric {
			for _, m := range f.GetMetric() {
				counted += m.GetCounter().GetValue()
			}
		}
	}
	if counted != 1 {
		t.Errorf("%s is %v, want 1", metric, counted)
	}
	return r.records[0], r.lines.All()[0]
}

func TestASessionLeavesOneRecordLineAndCount(t *testing.T) {
	r := newRig(t)
	s := Open(r.deps, r.pass, viewer, "X509None")
	if err := s.Join(); err != nil {
		t.Fatal(err)
	}
	s.Live.Up.Add(3)
	s.Live.Down.Add(70)
	s.ProtocolError("message", errors.New("message type [77], password hunter2"))
	s.Finish(desktop.ReasonProtocol)
	record, line := r.ended(t, "gatehouse_vnc_sessions_total")
	if record.ID != s.Live.ID || record.RequestID == record.ID || record.Workstation != "desk1" || record.Key != "dev" || record.Tenant != "default" ||
		record.KeyHash != "0123" || record.Status != http.StatusOK || record.Ended != "protocol_error" || record.Code != "message" ||
		record.BytesUp != 3 || record.BytesDown != 70 || record.Latency != time.Second || record.UsageSource != activity.UsageNone {
		t.Errorf("record %+v", record)
	}
	if fields := line.ContextMap(); line.Message != "vnc session" || line.Level != zapcore.InfoLevel || fields["cause"] != "message type [77], password ***" ||
		fields["token"] != r.pass.TokenID || fields["remote"] != viewer.String() || fields["security"] != "X509None" || fields["ended"] != "protocol_error" {
		t.Errorf("line %v %v", line.Message, fields)
	}
}

// What ended a session from elsewhere stays its reason.
func TestTheFirstReasonOfAnEndStays(t *testing.T) {
	r := newRig(t)
	s := Open(r.deps, r.pass, viewer, "X509None")
	if err := s.Join(); err != nil {
		t.Fatal(err)
	}
	if err := r.service.Release(t.Context(), "default", "desk1", desktop.Releaser{}); err != nil {
		t.Fatal(err)
	}
	s.Finish(desktop.ReasonViewer)
	if record, _ := r.ended(t, "gatehouse_vnc_sessions_total"); record.Ended != "released" {
		t.Errorf("ended %q", record.Ended)
	}
}

func TestARefusedViewerLeavesOneRecordLineAndCount(t *testing.T) {
	for code, status := range map[desktop.RefusalCode]int{
		desktop.RefusedBusy:         http.StatusForbidden,
		desktop.WorkstationPassword: http.StatusBadGateway,
	} {
		r := newRig(t)
		s := Open(r.deps, r.pass, viewer, "X509Plain")
		s.Refuse(desktop.NewRefusal(code), errors.New("hunter2 is wrong"))
		s.Finish(desktop.ReasonViewer)
		record, line := r.ended(t, "gatehouse_vnc_refused_total")
		if record.Code != string(code) || record.Status != status || record.RefusedBy != code.Option() || record.Ended != "" || record.ID != record.RequestID {
			t.Errorf("record %+v", record)
		}
		if fields := line.ContextMap(); line.Message != "vnc connection refused" || line.Level != zapcore.WarnLevel ||
			fields["code"] != string(code) || fields["cause"] != "*** is wrong" || fields["ended"] != nil {
			t.Errorf("line %v %v", line.Message, fields)
		}
	}
}

func TestASessionWithoutAnOutcomeIsTheGatewaysFailure(t *testing.T) {
	r := newRig(t)
	Open(r.deps, r.pass, viewer, "X509None").Finish(desktop.ReasonViewer)
	record, line := r.ended(t, "gatehouse_vnc_refused_total")
	if record.Code != "internal" || record.Status != http.StatusInternalServerError || line.ContextMap()["cause"] != errNoOutcome.Error() {
		t.Errorf("record %+v, line %v", record, line.ContextMap())
	}
}
