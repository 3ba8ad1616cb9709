//go:build linux

package browser

import "testing"

// The page's own session, whose end nobody has noticed yet, is not in its way.
func TestADesktopConnectsAgainAfterTheNetworkWasLost(t *testing.T) {
	s, d := siteWithDesktop(t)
	r, through := newRelay(t, s, 0, 0)
	b := newTab(t, through)
	b.signIn("desks")
	b.openDesktop(stationPath)
	b.shows("the desktop", d.Shown, lookTimeout)
	r.cut()
	b.says("The connection was lost. Connecting again in 2 seconds", inputTimeout)
	b.says("Connected", lookTimeout)
	b.shows("the desktop after the network came back", d.Shown, lookTimeout)
}

// A workstation whose server stops is tried again, and the page gives up when that does not help.
func TestADesktopWhoseServerHasStopped(t *testing.T) {
	s, d := siteWithDesktop(t)
	b := newTab(t, s)
	b.signIn("ops")
	b.openDesktop(stationPath)
	b.shows("the desktop", d.Shown, lookTimeout)
	b.expect("WebSocket")
	b.expect("Security")
	d.Stop()
	b.says("Disconnected. The workstation closed the connection. Connecting again in 2 seconds", inputTimeout)
	b.eventually("an end of the tries", `[...document.querySelectorAll(".choices button")].map(b => b.textContent).join() === "Connect again"`, lookTimeout)
}
