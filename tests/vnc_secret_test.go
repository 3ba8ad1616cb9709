package tests

import "testing"

// A key may have two secrets while one replaces the other. When the old one is removed, everything
// issued with it ends, and nothing else.
func TestVNCASecretTakenOutOfItsKeyOpensNothingMore(t *testing.T) {
	t.Setenv("KEY_LEAKED", secretOf("leaked"))
	d := newVNCServer(t, asNone)
	with := func(secrets string) setup {
		key := "key connect {\n" + secrets + "scopes workstations:connect\n}\n"
		return setup{noKeys: true, keys: defaultKeys + dropKey("connect") + key, vnc: "on_conflict share\n" + d.as("one", "") + d.as("two", "")}
	}
	const kept, leaked = "secret {env.KEY_CONNECT}\n", "secret {env.KEY_LEAKED}\n"
	h := startVNC(t, with(kept+leaked))
	type holder struct{ used, unused address }
	good := holder{h.issue("connect", "one", ""), h.issue("connect", "two", "")}
	bad := holder{h.issue("leaked", "one", ""), h.issue("leaked", "two", "")}
	goodViewer, badViewer := h.view(good.used), h.view(bad.used)

	h.become(with(leaked + kept)) // in another order, they are the same
	h.good(goodViewer.echo(1, 1))
	h.good(badViewer.echo(1, 2))

	end := badViewer.busyViewer()
	h.become(with(kept))
	wantEnd(t, "of the secret that is gone", end)
	h.vncLogLine(`"ended":"removed"`, `"workstation":"one"`)
	for _, dead := range []address{bad.used, bad.unused} {
		h.refusedWith(dead, "This VNC address was withdrawn. Ask for a new one.")
	}
	wantRefusal(t, vncOfOne, h.do("POST", vncOfOne, "leaked", ""), 401, "invalid_api_key")
	h.good(goodViewer.echo(2, 2))
	for _, live := range []address{good.used, good.unused} {
		w := h.view(live)
		w.leave()
	}
}
