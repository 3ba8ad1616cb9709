package gateway

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/report"
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
		"works":         {store.Status{}, report.PartOK, report.PartOK, ""},
		"fails":         {store.Status{Err: failing, Since: since, Waiting: 7, WaitingBytes: 900}, report.PartUnavailable, report.PartDegraded, "no space left; 7 changes (900 bytes) wait"},
		"only waits":    {store.Status{Err: failing, Since: since, Blocked: true}, report.PartDegraded, report.PartDegraded, "no space left"},
		"redo log only": {store.Status{RedoErr: failing, RedoSince: since}, report.PartOK, report.PartDegraded, "redo log cannot be written: no space left"},
	} {
		s, l := storePart(tt.status), ledgerPart(tt.status)
		if s.State != tt.store || l.State != tt.ledger {
			t.Errorf("%s: store %s, ledger %s", name, s.State, l.State)
		}
		shown := s
		if s.State == report.PartOK {
			shown = l
		}
		if !strings.Contains(shown.Detail, tt.detail) || (shown.State != report.PartOK) != (shown.Since != nil) || shown.Since != nil && !shown.Since.Equal(since) {
			t.Errorf("%s: %+v", name, shown)
		}
	}
}

func TestADesktopWithoutACertificateIsDegraded(t *testing.T) {
	service, _ := newService(t, errors.New("no disk"))
	none := func() error { return errors.New("there is no certificate") }
	if err := service.Start(t.Context()); err == nil || vncPart(service, nil).State != report.PartDegraded {
		t.Errorf("without its records: %v, %+v", err, vncPart(service, nil))
	}
	if err := service.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p := vncPart(service, none); p.State != report.PartDegraded || p.Detail != "there is no certificate" {
		t.Errorf("%+v", p)
	}
	if p := vncPart(service, func() error { return nil }); p.State != report.PartOK {
		t.Errorf("%+v", p)
	}
}
