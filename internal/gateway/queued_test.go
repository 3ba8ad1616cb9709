package gateway_test

import (
	"database/sql"
	"path/filepath"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// A record may wait long for a slow disk. What waits with it would be all that the call held: its
// request, its answer, Caddy's context.
func TestARecordThatWaitsDoesNotHoldItsCall(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, gateway.Config{State: gateway.NewState(dir, time.Now)}).start(t, t.Context())
	other, err := sql.Open("sqlite", "file:"+filepath.Join(dir, store.FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	other.SetMaxOpenConns(1)
	if _, err := other.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	call := func() weak.Pointer[gateway.Call] {
		c := r.begin(t)
		if err := c.Admit(t.Context(), provider.Chat, "acme/m"); err != nil {
			t.Fatal(err)
		}
		c.Succeed(200)
		c.Finish()
		return weak.Make(c)
	}()
	for range 10 {
		if runtime.GC(); call.Value() == nil {
			break
		}
	}
	if call.Value() != nil {
		t.Error("the call is held by its record")
	}
	if _, err := other.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
}
