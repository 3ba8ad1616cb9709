//go:build linux

package browser

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/security"
	"github.com/chromedp/chromedp"

	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// Over TLS the cookie is one that no other host and no plain page can set, and everything works with
// it: forms, and the desktop over a secure socket beside HTTP/2.
func TestTheConsoleOverTLS(t *testing.T) {
	s := ownSite(t, "")
	ports, err := process.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	s.reload(t, s.change(t, "\tskip_install_trust\n", "\tskip_install_trust\n\tauto_https disable_redirects\n"))
	s.reload(t, s.file+fmt.Sprintf("\nhttps://127.0.0.1:%d {\n\tbind 127.0.0.1\n\ttls internal\n\tgatehouse_console\n}\n", ports[0]))
	secure := *s
	secure.scheme, secure.host = "https", fmt.Sprintf("127.0.0.1:%d", ports[0])

	b := newTab(t, &secure)
	call(b, security.SetIgnoreCertificateErrors, security.SetIgnoreCertificateErrorsParams{Ignore: true}) // Caddy's own authority
	b.signIn("ops")
	cookie := b.session()
	if cookie.Name != "__Host-gatehouse" || !cookie.Secure || !cookie.HTTPOnly || cookie.SameSite != network.CookieSameSiteLax || cookie.Path != "/" || cookie.Domain != "127.0.0.1" {
		t.Errorf("the cookie is %+v", cookie)
	}
	if protocol := evaluate[string](b, `performance.getEntriesByType("navigation")[0].nextHopProtocol`); protocol != "h2" {
		t.Errorf("the page came over %s", protocol)
	}
	if status := b.follow(click("button[name=theme]")); status != http.StatusOK {
		t.Errorf("a form: status %d", status)
	}
	b.openDesktop(demoPath)
	b.shows("the test card", desktop.TestCard(), lookTimeout)
	b.follow(click(`form[action="/console/sign-out"] button`))
	if left := call(b, network.GetCookies, network.GetCookiesParams{URLs: []string{secure.url("/console/")}}).Cookies; len(left) != 1 || left[0].Name == cookie.Name {
		t.Errorf("after the sign-out there are the cookies %+v, want only that of the colours", left)
	}
	if text := run(b, chromedp.TextContent(chromedp.CSS("main"))); len(text) == 0 {
		t.Error("the sign-in page is empty")
	}
}
