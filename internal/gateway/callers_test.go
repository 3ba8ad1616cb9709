package gateway_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/features/console"
	"github.com/gatehouse-proxy/gatehouse/internal/features/recordings"
	makekeys "github.com/gatehouse-proxy/gatehouse/internal/features/runtimekeys"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
)

func hashed(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func TestASignedInCallerIsTheKeyAsItIsNow(t *testing.T) {
	now := time.Date(2026, 3, 18, 12, 0, 0, 0, time.UTC)
	const old = "gk-unit-9876543210"
	callers := consoleOf(newRig(t, gateway.Config{Now: func() time.Time { return now }, Keyring: newRing(t,
		keys.Spec{Name: "dev", Secrets: []string{secret, old}, Scopes: []string{"chat:write"}, Expires: now.Add(time.Hour)},
		keys.Spec{Name: "off", Secrets: []string{secret + "-off"}, Scopes: []string{"chat:write"}, Disabled: true},
		keys.Spec{Name: "ops", Secrets: []string{secret + "-ops"}, Scopes: []string{"activity:read"}, Tenant: "acme"},
	)}).start(t, t.Context()))
	signedIn, err := callers.Authenticate(old)
	if err != nil {
		t.Fatal(err)
	}
	again, err := callers.CallerOf("default", "dev", signedIn.SecretHash())
	if err != nil || again.Key != signedIn.Key || again.Hash != hashed(old) || again.SecretHash() != hashed(old) || again.Secret != "" {
		t.Errorf("%+v, %v", again, err)
	}
	for name, of := range map[string][3]string{
		"gone":             {"default", "dev", hashed("gk-unit-no-longer-there")},
		"of another name":  {"default", "ops", hashed(old)},
		"of another owner": {"acme", "dev", hashed(old)},
		"disabled":         {"default", "off", hashed(secret + "-off")},
		"no hash":          {"default", "dev", ""},
	} {
		_, err := callers.CallerOf(of[0], of[1], of[2])
		if wantRefusal(t, err, apierror.InvalidAPIKey, "missing or not valid"); err == nil {
			t.Error(name)
		}
	}
	for name, good := range map[string]bool{"dev": true, "ops": true, "off": false, "none": false, "": false} {
		caller, err := callers.CallerNamed(name)
		if (err == nil) != good {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if !good {
			wantRefusal(t, err, apierror.InvalidAPIKey, "missing or not valid")
			continue
		}
		if same, err := callers.CallerOf(caller.Tenant, name, caller.SecretHash()); err != nil || same.Key != caller.Key || same.Hash != caller.Hash {
			t.Errorf("%s: %+v, %v", name, same, err)
		}
	}
	now = now.Add(time.Hour)
	_, err = callers.CallerOf("default", "dev", hashed(old))
	wantRefusal(t, err, apierror.InvalidAPIKey, "")
	_, err = callers.CallerNamed("dev")
	wantRefusal(t, err, apierror.InvalidAPIKey, "")
}

func TestASignedInCallerLosesARunTimeKeyThatWasReplacedOrDisabled(t *testing.T) {
	now := time.Now()
	block := &runtimekeys.Block{Scopes: keys.ChatWrite | keys.WorkstationsConnect, Max: 10, Shared: new(policy.Limits)}
	r := newRig(t, gateway.Config{Now: func() time.Time { return now }, Features: func(c gateway.Core) []gateway.Feature {
		return []gateway.Feature{console.Feature(c), makekeys.Feature(c, block)}
	}}).start(t, t.Context())
	callers := consoleOf(r)
	made, _ := gateway.Offered[*makekeys.Keys](r.Gateway)
	by := makekeys.Manager{Name: "test", Tenants: keys.EveryTenant("")}
	edit := func(tenant, member, value string) *runtimekeys.Edit {
		e := made.Edit(tenant)
		if _, err := e.Member(member, []byte(value)); err != nil {
			t.Fatal(err)
		}
		return e
	}
	key, first, err := made.Create(t.Context(), by, "default", edit("default", "name", `"Ada"`), "")
	if err != nil {
		t.Fatal(err)
	}
	caller, err := callers.CallerOf("default", key.Hash(), hashed(first))
	if err != nil || !caller.Has(keys.ChatWrite) || caller.Limits == nil {
		t.Fatalf("%+v, %v", caller, err)
	}
	if err := gateway.VNCOf(r.Gateway).StillMayConnect(&caller); err != nil {
		t.Error(err)
	}
	_, second, err := made.Rotate(t.Context(), by, key.Hash(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := callers.CallerOf("default", key.Hash(), hashed(first)); err != nil {
		t.Errorf("within the grace: %v", err)
	}
	now = now.Add(2 * time.Minute)
	_, err = callers.CallerOf("default", key.Hash(), hashed(first))
	wantRefusal(t, err, apierror.InvalidAPIKey, "")
	if caller, err = callers.CallerOf("default", key.Hash(), hashed(second)); err != nil || caller.SecretHash() != hashed(second) {
		t.Errorf("%+v, %v", caller, err)
	}
	if _, err := made.Update(t.Context(), by, key.Hash(), edit("", "disabled", "true")); err != nil {
		t.Fatal(err)
	}
	_, err = callers.CallerOf("default", key.Hash(), hashed(second))
	wantRefusal(t, err, apierror.InvalidAPIKey, "")
	wantRefusal(t, gateway.VNCOf(r.Gateway).StillMayConnect(&caller), apierror.InvalidAPIKey, "")
}

// A replay goes on while its key, as it is now, sees the recordings of a tenant.
func TestAViewerSeesRecordingsAsLongAsItsKeyDoes(t *testing.T) {
	now := time.Now()
	config := func(state *gateway.State, spec keys.Spec) gateway.Config {
		spec.Name, spec.Secrets = "dev", []string{secret}
		return gateway.Config{
			State: state, Keyring: newRing(t, spec), Now: func() time.Time { return now },
			Features: func(c gateway.Core) []gateway.Feature { return []gateway.Feature{recordings.Feature(c, nil)} },
		}
	}
	viewer := func(r *rig) func(tenant string) bool {
		all, _ := gateway.Offered[*recordings.Recordings](r.Gateway)
		return all.Viewer(r.begin(t)).Sees
	}
	scopes := []string{"recordings:read"}
	older := newRig(t, config(nil, keys.Spec{Scopes: scopes, AllTenants: true, Expires: now.Add(time.Hour)})).start(t, t.Context())
	sees := viewer(older)
	newer := newRig(t, config(older.state, keys.Spec{Scopes: scopes}))
	for _, step := range []struct {
		what           string
		do             func()
		own, elsewhere bool
	}{
		{"at first", func() {}, true, true},
		{"while the next configuration starts", func() {
			if err := newer.Start(t.Context(), activity.Retention{}); err != nil {
				t.Fatal(err)
			}
		}, true, true},
		{"when it has replaced the first", func() { older.Stop(); older.Close() }, true, false},
		{"when none is left", func() { newer.Stop(); newer.Close() }, false, false},
	} {
		step.do()
		if own, elsewhere := sees("default"), sees("acme"); own != step.own || elsewhere != step.elsewhere {
			t.Errorf("%s: %v and of another tenant %v", step.what, own, elsewhere)
		}
	}

	for name, spec := range map[string]keys.Spec{"expired": {Scopes: scopes, Expires: now.Add(time.Hour)}, "no scope": {Scopes: []string{"chat:write"}}} {
		r := newRig(t, config(nil, spec)).start(t, t.Context())
		sees := viewer(r)
		before := now
		now = now.Add(2 * time.Hour)
		if sees("default") {
			t.Errorf("%s: it sees recordings", name)
		}
		now = before
	}
}
