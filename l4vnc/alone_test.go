package l4vnc

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"sync/atomic"
	"testing"

	"github.com/caddyserver/caddy/v2"
	_ "github.com/caddyserver/caddy/v2/modules/filestorage" // the storage of the configuration
	"github.com/mholt/caddy-l4/layer4"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/vncrelaytest"
	"github.com/gatehouse-proxy/gatehouse/internal/vncrelay"
)

// vncApp is an app that offers desktops, and has no gateway for models.
type vncApp struct{}

// offered is what the app of the test offers.
var offered atomic.Pointer[vncOnly]

func init() { caddy.RegisterModule(vncApp{}) }

func (vncApp) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: caddykit.AppName, New: func() caddy.Module { return new(vncApp) }}
}
func (vncApp) Start() error           { return nil }
func (vncApp) Stop() error            { return nil }
func (vncApp) Listens([]string) error { return nil }

func (vncApp) Parts() []any {
	if part := offered.Load(); part != nil {
		return []any{*part}
	}
	return []any{"a part of another kind"}
}

// vncOnly is the desktops of one configuration.
type vncOnly struct{ *vncrelaytest.Gateway }

func (v vncOnly) Current(context.Context) vncrelay.Gateway { return v.Gateway }

// vncConfig is a configuration of Caddy with that app and the certificate of the VNC domain.
func vncConfig(t *testing.T) *caddy.Config {
	t.Helper()
	c := certificate()
	key, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	text := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	certificates, err := json.Marshal(map[string]any{"certificates": map[string]any{"load_pem": []map[string]string{
		{"certificate": text("CERTIFICATE", c.Certificate[0]), "key": text("PRIVATE KEY", key)},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return &caddy.Config{
		StorageRaw: []byte(`{"module": "file_system", "root": "` + t.TempDir() + `"}`),
		AppsRaw:    caddy.ModuleMap{caddykit.AppName: []byte("{}"), "tls": certificates},
	}
}

// All that the handler needs of the app is a [vncrelay.Server]: a viewer gets its desktop where
// nothing serves models.
func TestDesktopsNeedNoModels(t *testing.T) {
	g := vncrelaytest.New(t, vncrelaytest.Options{})
	offered.Store(&vncOnly{g})
	defer offered.Store(nil)
	ctx, err := caddy.ProvisionContext(vncConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	h, m := new(Handler), new(MatchToken)
	for _, module := range []caddy.Provisioner{h, m} {
		if err := module.Provision(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if m.workstations != g.Service {
		t.Error("the matcher knows other workstations")
	}
	h.settings.dial = g.Dial

	ours, viewer := vncrelaytest.Loopback(t)
	done := (&fakeGateway{g, h}).handle(layer4.WrapConnection(connection{ours, tcpAddr("127.0.0.1:5900"), tcpAddr(viewerAddress)}, nil, zap.NewNop()))
	last, err := join(veNCrypt(subX509None, g.Issue(desktop.Options{})+"."+domain), opened).Play(viewer, 'C')
	if err != nil {
		t.Fatal(err)
	}
	_ = last.Close()
	<-done
	g.WantRecord("", "viewer_left")
	g.WantRefused()
}

func TestAnAppWithoutDesktopsIsNoneOfTheHandlers(t *testing.T) {
	ctx, err := caddy.ProvisionContext(vncConfig(t))
	if err != nil {
		t.Fatal(err)
	}
	const want = `the app "gatehouse" offers no vncrelay.Server`
	for name, module := range map[string]caddy.Provisioner{"vnc": new(Handler), "vnc_token": new(MatchToken)} {
		if err := module.Provision(ctx); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
