package gateway_test

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/features/console"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/websession"
)

// consoleOf returns the feature console of a rig.
func consoleOf(r *rig) *console.Console {
	part, _ := gateway.Offered[*console.Console](r.Gateway)
	return part
}

// console gives a configuration one with users, as a module does while it is provisioned.
func (r *rig) console(users map[string]string) *rig {
	consoleOf(r).Serves(func(user string) string { return users[user] })
	return r
}

// signIn makes a session of the console for the key dev.
func (r *rig) signIn(t *testing.T, user string) (lives func() bool) {
	t.Helper()
	caller, err := r.Authenticate(secret, "")
	if err != nil {
		t.Fatal(err)
	}
	x := websession.Session{Tenant: caller.Tenant, Key: caller.Name, User: user}
	if user == "" {
		x.KeyHash = caller.SecretHash()
	}
	store, life := consoleOf(r).Sessions(), websession.Life{Idle: time.Hour, Max: time.Hour}
	id, err := store.Create(t.Context(), x, life)
	if err != nil {
		t.Fatal(err)
	}
	return func() bool {
		t.Helper()
		_, ok, err := store.Peek(t.Context(), id, life)
		if err != nil {
			t.Error(err)
		}
		return ok
	}
}

func TestAReloadEndsWhatUsersHaveWhoseKeyIsAnother(t *testing.T) {
	for name, c := range map[string]struct {
		reload func(t *testing.T, s *gateway.State) *rig
		alice  bool // keeps what she has; bob and the key itself do not change
		bob    bool
		key    bool
	}{
		"the same": {func(t *testing.T, s *gateway.State) *rig {
			return startDesktops(t, s, "dev", "one").console(map[string]string{"alice": "dev", "bob": "dev"})
		}, true, true, true},
		"alice is dropped": {func(t *testing.T, s *gateway.State) *rig {
			return startDesktops(t, s, "dev", "one").console(map[string]string{"bob": "dev"})
		}, false, true, true},
		"alice has another key": {func(t *testing.T, s *gateway.State) *rig {
			return startDesktops(t, s, "dev", "one").console(map[string]string{"alice": "other", "bob": "dev"})
		}, false, true, true},
		"alice has the key at another console": {func(t *testing.T, s *gateway.State) *rig {
			return startDesktops(t, s, "dev", "one").console(map[string]string{"alice": "other", "bob": "dev"}).console(map[string]string{"alice": "dev"})
		}, true, true, true},
		"people sign in with keys": {func(t *testing.T, s *gateway.State) *rig {
			r := startDesktops(t, s, "dev", "one")
			consoleOf(r).Serves(nil)
			return r
		}, false, false, true},
		"there is no console": {func(t *testing.T, s *gateway.State) *rig { return startDesktops(t, s, "dev", "one") }, false, false, true},
		"the key is dropped": {func(t *testing.T, s *gateway.State) *rig {
			return startDesktops(t, s, "other", "one").console(map[string]string{"alice": "dev", "bob": "dev"})
		}, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			state := gateway.NewState(t.TempDir(), time.Now)
			older := startDesktops(t, state, "dev", "one").console(map[string]string{"alice": "dev", "bob": "dev"})
			signedIn := map[string]func() bool{"alice": older.signIn(t, "alice"), "bob": older.signIn(t, "bob"), "": older.signIn(t, "")}
			desktops := map[string]*desktop.Session{}
			for user := range signedIn {
				desktops[user] = older.viewAs(t, "one", user, desktop.Options{Shared: true})
			}
			newer := c.reload(t, state)
			for user, lives := range signedIn {
				if !lives() {
					t.Errorf("%q is signed out before the reload has succeeded", user)
				}
			}
			older.Stop()
			older.Close()
			for user, want := range map[string]bool{"alice": c.alice, "bob": c.bob, "": c.key} {
				ended := desktop.Reason("")
				if !want {
					ended = desktop.ReasonRemoved
				}
				wantSession(t, "the desktop of \""+user+"\"", desktops[user], ended)
				if lives := signedIn[user](); lives != want {
					t.Errorf("%q is signed in: %v, want %v", user, lives, want)
				}
			}
			newer.state.Exit(0)
			newer.Stop()
			newer.Close()
			if err := state.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
