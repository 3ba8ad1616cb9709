//go:build linux

package browser

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"testing"

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

	certified := func() error { // Caddy's own authority issues the certificate after the reload
		conn, err := tls.Dial("tcp", secure.host, &tls.Config{InsecureSkipVerify: true})
		if err == nil {
			err = conn.Close()
		}
		return err
	}
	if err := process.Eventually(t.Context(), pageTimeout, certified); err != nil {
		t.Fatal(err)
	}
	inEachBrowser(t, &secure, func(t *testing.T, b *tab) {
		b.signIn("ops")
		cookie := b.session()
		if cookie.Name != "__Host-gatehouse" || !cookie.Secure || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" || cookie.Domain != "127.0.0.1" {
			t.Errorf("the cookie is %+v", cookie)
		}
		if protocol := evaluate[string](b, `performance.getEntriesByType("navigation")[0].nextHopProtocol`); protocol != "h2" {
			t.Errorf("the page came over %s", protocol)
		}
		if status := clickThrough(b, "button[name=theme]"); status != http.StatusOK {
			t.Errorf("a form: status %d", status)
		}
		b.openDesktop(demoPath)
		b.shows("the test card", desktop.TestCard(), lookTimeout)
		clickThrough(b, `form[action="/console/sign-out"] button`)
		if left, err := b.driver.cookies(secure.url("/console/")); err != nil || len(left) != 1 || left[0].Name == cookie.Name {
			t.Errorf("after the sign-out there are the cookies %+v (%v), want only that of the colours", left, err)
		}
		if text := b.text("main"); len(text) == 0 {
			t.Error("the sign-in page is empty")
		}
	})
}
