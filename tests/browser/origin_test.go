package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// click clicks the first element that a selector finds.
func click(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.Click(chromedp.CSS(selector))
}

// Another site's page must not use the console of somebody who has signed in. A page of another port
// is of the same site, so that the browser sends the cookie; one of another host is not.
func TestAnotherOriginCanDoNothing(t *testing.T) {
	s := sharedSite(t)
	// What a socket is answered: without the cookie it is that of nobody.
	for host, refused := range map[string]string{"127.0.0.1": "403", "localhost": "303"} {
		t.Run(host, func(t *testing.T) {
			page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprintf(w, `<!doctype html><title>other</title><form method="post" action="%s"><input name="theme" value="dark"><button>Send</button></form>`, s.url("/console/theme"))
			}))
			t.Cleanup(page.Close)
			other := strings.Replace(page.URL, "127.0.0.1", host, 1)
			inEachBrowser(t, s, func(t *testing.T, b *tab) {
				b.signIn("ops")
				b.check()
				b.mayAsk(strings.TrimPrefix(other, "http://"))
				for _, words := range []string{"403", "frame", "WebSocket", "NotSameOrigin", "Cross-Origin-Resource-Policy", "/console/socket"} {
					b.expect(words)
				}

				show := func() {
					if _, err := b.driver.navigate(other); err != nil {
						t.Fatal(err)
					}
				}
				show()
				if status := clickThrough(b, "form button"); status != http.StatusForbidden {
					t.Errorf("a form: status %d", status)
				}
				show()
				evaluate[any](b, fmt.Sprintf(`fetch(%q, {method: "POST", mode: "no-cors", credentials: "include", body: "theme=dark"}).catch(() => {})`, s.url("/console/theme")))
				b.sees("403 /console/theme")

				code := evaluate[int](b, fmt.Sprintf(`new Promise((done) => {
				const socket = new WebSocket(%q, "gatehouse.vnc.1");
				socket.addEventListener("open", () => done(-1));
				socket.addEventListener("close", (event) => done(event.code));
			})`, "ws://"+s.host+"/console/socket"))
				if code != 1006 {
					t.Errorf("a WebSocket: code %d", code)
				}
				b.sees("Unexpected response code: "+refused, refused+" /console/socket") // Chromium, Firefox

				evaluate[any](b, fmt.Sprintf(`document.body.append(Object.assign(document.createElement("iframe"), {src: %q}))`, s.url("/console/about")))
				b.sees("frame-ancestors")
			})
		})
	}
}
