package sources

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/guest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

func init() { caddy.RegisterModule(new(rack)) }

// rack is a guest: each workstation has the address.
type rack struct {
	Address string `json:"address"`
}

func (*rack) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: namespace + ".rack", New: func() caddy.Module { return new(rack) }}
}

func (r *rack) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	if !d.AllArgs(&r.Address) {
		return d.ArgErr()
	}
	return nil
}

func (r *rack) Resolve(_ context.Context, q guest.Question) (guest.Answer, error) {
	return guest.Answer{Decision: guest.Allow, Address: r.Address, Reason: q.Name}, nil
}

func (r *rack) List(context.Context, string, string) ([]guest.Item, string, error) {
	return nil, "", nil
}

func TestAGuestIsAskedForWorkstations(t *testing.T) {
	d := caddyfile.NewTestDispenser("source lab {\n rack 10.0.0.9:5901\n networks 10.0.0.0/8\n}")
	d.Next()
	var read, s Source
	if err := read.read(d); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(read)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil || !jsontest.Has(t, text, `{"rack":{"address":"10.0.0.9:5901"}}`) {
		t.Fatalf("%s, %v", text, err)
	}
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	defer cancel()
	built, _, err := (&Feature{Sources: []Source{s}}).BuildSources(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := built[0].Resolve(guest.Question{Tenant: "default", Name: "desk1"}, time.Time{})
	if err != nil || a.Address != "10.0.0.9:5901" || a.Reason != "desk1" {
		t.Errorf("%s %q, %v", a, a.Address, err)
	}
	if items, err := built[0].List("default"); err != nil || items == nil || len(items) > 0 {
		t.Errorf("%v, %v", items, err)
	}
}

func TestImpossibleGuestsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"name":"lab","rock":{}}`:                                   `unknown field "rock"`,
		`{"name":"lab","rack":{"host":"x"},"networks":[]}`:           `unknown field "host"`,
		`{"name":"lab","networks":[]}`:                               "want webhook",
		`{"name":"lab","rack":{},"webhook":{"url":"","secrets":[]}}`: "want webhook",
	} {
		var s Source
		err := json.Unmarshal([]byte(text), &s)
		if err == nil {
			ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
			_, _, err = (&Feature{Sources: []Source{s}}).BuildSources(ctx, nil)
			cancel()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
