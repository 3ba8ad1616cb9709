package gateway

import (
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
	"github.com/gatehouse-proxy/gatehouse/internal/source"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
)

func TestASourceThatDoesNotAnswerIsDegraded(t *testing.T) {
	plane := httptest.NewServer(http.NotFoundHandler())
	defer plane.Close()
	s, err := source.NewWebhook(source.Webhook{
		URL: plane.URL, Secrets: []string{"whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"},
		Gateway: func() string { return "" }, Transport: http.DefaultTransport,
	}, source.Config{Name: "lab", Logger: zap.NewNop(), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	service, err := desktop.New(desktop.Config{
		Policy: desktop.Policy{Domain: "vnc.example.com"}, State: memory.NewState(time.Now), Storage: new(desktoptest.Storage), Random: rand.Reader,
		Sources: []desktop.Source{{ControlPlane: s, Tenants: []string{"default"}, Networks: []netip.Prefix{netip.MustParsePrefix("10.20.0.0/16")}}},
	})
	if err == nil {
		err = service.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	for failures := range 5 {
		if p := vncPart(service, nil); p.State != report.PartOK {
			t.Errorf("after %d failures: %+v", failures, p)
		}
		if _, err := service.Issue(desktop.Issuer{Tenant: "default", Key: "dev"}, "lab1", desktop.Options{}); err == nil {
			t.Fatal("an address")
		}
	}
	if p := vncPart(service, nil); p.State != report.PartDegraded || p.Since == nil || !strings.Contains(p.Detail, "lab") {
		t.Errorf("%+v", p)
	}
}
