package gateway

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

func TestTheStateOfTheStoreDecidesWhetherTheGatewayIsReady(t *testing.T) {
	since := time.Date(2026, 3, 18, 12, 0, 0, 0, time.UTC)
	failing := errors.New("no space left")
	for name, tt := range map[string]struct {
		status        store.Status
		store, ledger string
		detail        string // of the store, or of the ledger if that alone is degraded
	}{
		"works":         {store.Status{}, PartOK, PartOK, ""},
		"fails":         {store.Status{Err: failing, Since: since, Waiting: 7, WaitingBytes: 900}, PartUnavailable, PartDegraded, "no space left; 7 changes (900 bytes) wait"},
		"only waits":    {store.Status{Err: failing, Since: since, Blocked: true}, PartDegraded, PartDegraded, "no space left"},
		"redo log only": {store.Status{RedoErr: failing, RedoSince: since}, PartOK, PartDegraded, "redo log cannot be written: no space left"},
	} {
		s, l := storePart(tt.status), ledgerPart(tt.status)
		if s.State != tt.store || l.State != tt.ledger {
			t.Errorf("%s: store %s, ledger %s", name, s.State, l.State)
		}
		shown := s
		if s.State == PartOK {
			shown = l
		}
		if !strings.Contains(shown.Detail, tt.detail) || (shown.State != PartOK) != (shown.Since != nil) || shown.Since != nil && !shown.Since.Equal(since) {
			t.Errorf("%s: %+v", name, shown)
		}
	}
}

func TestADesktopWithoutACertificateIsDegraded(t *testing.T) {
	service, _ := newService(t, errors.New("no disk"))
	g := &Gateway{workstations: service, vncCertificate: func() error { return errors.New("there is no certificate") }}
	if err := service.Start(t.Context()); err == nil || g.vncPart().State != PartDegraded {
		t.Errorf("without its records: %v, %+v", err, g.vncPart())
	}
	if err := service.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p := g.vncPart(); p.State != PartDegraded || p.Detail != "there is no certificate" {
		t.Errorf("%+v", p)
	}
	g.vncCertificate = func() error { return nil }
	if p := g.vncPart(); p.State != PartOK {
		t.Errorf("%+v", p)
	}
}
