//go:build unix

package websession_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/websession"
)

func TestWhatIsKnownOfASessionChangesAndItsTimesStay(t *testing.T) {
	onBoth(t, func(t *testing.T, g pair) {
		id := create(t, g.a, websession.Session{Tenant: "lab", Key: "idp-1", KeyHash: "11", Grant: "one"})
		before, _ := find(t, g.b, id, life)
		want := websession.Session{Tenant: "other", Key: "idp-1", KeyHash: "11", Grant: "two"}
		if err := g.b.Update(t.Context(), id, want); err != nil {
			t.Fatal(err)
		}
		got, ok := find(t, g.a, id, life)
		want.Started, want.Used = before.Started, before.Used
		if !ok || got != want {
			t.Errorf("%+v, %v; want %+v", got, ok, want)
		}
		if err := g.a.Delete(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if err := g.b.Update(t.Context(), id, want); err != nil || lives(t, g.a, id) {
			t.Errorf("a session that has ended: %v", err)
		}
	})
}
