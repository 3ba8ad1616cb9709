package vnc

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// A key may have two secrets while one replaces the other. When the old one is removed, everything
// issued with it ends, and nothing else.
func TestVNCASecretTakenOutOfItsKeyOpensNothingMore(t *testing.T) {
	t.Setenv("KEY_LEAKED", harness.Secret("leaked"))
	d := harness.NewVNCServer(t, harness.NoSecurity)
	with := func(secrets string) harness.Setup {
		key := "key connect {\n" + secrets + "scopes workstations:connect\n}\n"
		return harness.Setup{NoKeys: true, Keys: harness.DefaultKeys + dropKey("connect") + key, VNC: "on_conflict share\n" + d.As("one", "") + d.As("two", "")}
	}
	const kept, leaked = "secret {env.KEY_CONNECT}\n", "secret {env.KEY_LEAKED}\n"
	h := harness.StartVNC(t, with(kept+leaked))
	type holder struct{ used, unused harness.Address }
	good := holder{h.VNC.Issue("connect", "one", ""), h.VNC.Issue("connect", "two", "")}
	bad := holder{h.VNC.Issue("leaked", "one", ""), h.VNC.Issue("leaked", "two", "")}
	goodViewer, badViewer := h.VNC.View(good.used), h.VNC.View(bad.used)

	h.Become(with(leaked + kept)) // in another order, they are the same
	mustSucceed(h, goodViewer.Echo(1, 1))
	mustSucceed(h, badViewer.Echo(1, 2))

	end := busyViewer(badViewer)
	h.Become(with(kept))
	harness.WantEnd(t, "of the secret that is gone", end)
	vncLogLine(h, `"ended":"removed"`, `"workstation":"one"`)
	for _, dead := range []harness.Address{bad.used, bad.unused} {
		refusedWith(h, dead, "This VNC address was withdrawn. Ask for a new one.")
	}
	harness.WantRefusal(t, vncOfOne, h.Client.Do("POST", vncOfOne, "leaked", ""), 401, "invalid_api_key")
	mustSucceed(h, goodViewer.Echo(2, 2))
	for _, live := range []harness.Address{good.used, good.unused} {
		w := h.VNC.View(live)
		w.Leave()
	}
}
